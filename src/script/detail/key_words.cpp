// SPDX-License-Identifier: Apache-2.0
#include "script/detail/key_words.h"

#include <fmt/core.h>

#include "script/detail/similar.h"

namespace rhizome::script::detail {

Result<crypto::PublicKey, TextFault> resolve_key(const Word& word, const KeyResolver* keys) {
    if (keys != nullptr) {
        if (auto key = keys->find(word.text)) return *key;
        for (const std::string_view front : {"hash_public_key_from_", "hash_public_key_", "public_key_"}) {
            if (!word.text.starts_with(front)) continue;
            if (auto key = keys->find(word.text.substr(front.size()))) return *key;
        }
    }
    std::string hint;
    if (keys == nullptr) {
        hint = "write the public key itself, 66 hexadecimal digits";
    } else {
        const std::vector<std::string> names = keys->names();
        const std::vector<std::string_view> views{names.begin(), names.end()};
        hint = did_you_mean(similar_words(word.text, views));
    }
    return Fail{word.fault(fmt::format("no key is named \"{}\"", word.text), std::move(hint))};
}

}  // namespace rhizome::script::detail
