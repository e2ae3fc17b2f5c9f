// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/random.h"

namespace rhizome::test {

inline json::Number random_number(Random& random) {
    if (random.chance(1, 2)) return json::Number(static_cast<std::int64_t>(random.next() >> random.below(64)));
    std::string text = random.chance(1, 2) ? "-" : "";
    text += std::to_string(random.below(1000));
    if (random.chance(1, 2)) text += "." + std::to_string(random.below(1000));
    if (random.chance(1, 3)) text += (random.chance(1, 2) ? "e" : "E-") + std::to_string(random.below(30));
    return *json::Number::from_text(text);
}

/// Odd strings: empty, controls, quotes, several scripts, texts that look like other things in JSON or YAML.
inline std::string random_text(Random& random) {
    static constexpr std::string_view kPieces[] = {
        "a",    "b",      "name",   " ",      "\n",         "\t",    "\r",   "\"",   "\\", "'",
        ":",    ": ",     "#",      " #",     "-",          "- ",    "?",    "!",    "&a", "*a",
        "|",    ">",      "%",      "@",      "`",          "{",     "}",    "[",    "]",  ",",
        "1",    "0x1f",   "0o7",    "1e3",    ".",          "_",     "true", "yes",  "no", "on",
        "null", "~",      "=",      "<<",     "2026-01-01", "12:30", "\b",   "\x7f", "é",  "€",
        "😀",    "\u0085", "\u00a0", "\u2028", "\ufeff",     "---",   "...",  ".inf", "+",  "long plain text of words",
    };
    std::string text;
    for (std::uint64_t left = random.below(6); left > 0; --left) {
        if (random.chance(1, 30))
            text += static_cast<char>(random.below(0x20));
        else
            text += kPieces[random.below(std::size(kPieces))];
    }
    return text;
}

/// A random JSON value of any kind, now and then with a large object. The same state of the generator gives the same
/// value.
inline json::Value random_json(Random& random, unsigned depth = 4) {
    switch (random.below(depth == 0 ? 4 : 7)) {
        case 0: return nullptr;
        case 1: return random.chance(1, 2);
        case 2: return random_number(random);
        case 3: return random_text(random);
        case 4: {
            json::Array array;
            for (std::uint64_t left = random.below(5); left > 0; --left)
                array.push_back(random_json(random, depth - 1));
            return array;
        }
        default: {
            json::Object object;
            const bool large = random.chance(1, 40);
            for (std::uint64_t left = random.below(large ? 60 : 6); left > 0; --left) {
                std::string key = random_text(random) + (large ? std::to_string(left) : "");
                object.set(key, random_json(random, large ? 0 : depth - 1));
            }
            return object;
        }
    }
}

}  // namespace rhizome::test
