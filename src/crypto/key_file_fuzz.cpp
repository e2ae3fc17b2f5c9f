// SPDX-License-Identifier: Apache-2.0
// A stranger's key files. The first byte chooses: read the text as it stands, or repair its checksum first so that what
// lies behind it is reached. Argon2id runs for one in sixteen, at the least cost, since it takes milliseconds.
#include <optional>

#include "base/json.h"
#include "crypto/detail/key_file_checksum.h"
#include "crypto/key_file.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

FUZZ_TARGET(key_file_fuzz) {
    if (size == 0) return 0;
    std::string text{as_text({data + 1, size - 1})};
    if (data[0] % 2 == 1) {
        auto parsed = json::parse(text, {.bytes = kKeyFileBytesMax, .depth = 4});
        if (!parsed || parsed->if_object() == nullptr) return 0;
        json::Object& document = *parsed->if_object();
        document.set("checksum", detail::key_file_checksum(document).hex());
        text = json::print(document);
    }
    const bool with_kdf = data[0] >> 4 == 0xf;
    const auto info = read_key_file_public(text);
    const auto opened = open_key_file(text, as_bytes("sesame"), with_kdf ? kKdfCostMin : KdfCost{0, 0});
    const auto renamed = rename_key_file(text, "other");
    ensure(info.has_value() == renamed.has_value(), "what can be read can be renamed");
    if (!info) {
        ensure(!opened, "what cannot be read cannot be opened");
        return 0;
    }
    ensure(is_key_name(info->name), "a name that was read follows the rules");
    const auto again = read_key_file_public(*renamed);
    ensure(again && again->name == "other" && again->public_key == info->public_key, "renaming changes the name only");
    if (opened) ensure(opened->public_key() == info->public_key, "an opened secret belongs to its public key");
    return 0;
}
