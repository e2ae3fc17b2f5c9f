// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_file.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "crypto/detail/key_file_checksum.h"

namespace rhizome::crypto {
namespace {

const auto kCreated = Time::from_unix_seconds(1'794'778'051);

SecretKey secret_of(std::uint8_t fill) { return *SecretKey::from_bytes(Bytes(32, fill)); }

std::array<std::uint8_t, kKeyFileEntropyBytes> entropy_of(std::uint8_t fill) {
    std::array<std::uint8_t, kKeyFileEntropyBytes> entropy;
    entropy.fill(fill);
    return entropy;
}

std::string encrypted() {
    return *make_key_file("alice", secret_of(1), as_bytes("sesame"), entropy_of(9), kCreated, kKdfCostMin);
}
std::string unencrypted() { return *make_key_file("bob", secret_of(2), std::nullopt, entropy_of(9), kCreated); }

json::Object document_of(const std::string& text) { return *json::parse(text)->if_object(); }

std::string with_right_checksum(json::Object document) {
    document.set("checksum", detail::key_file_checksum(document).hex());
    return json::print(document);
}

TEST(KeyFile, OpensWithItsPassphrase) {
    const auto opened = open_key_file(encrypted(), as_bytes("sesame"));
    ASSERT_TRUE(opened);
    EXPECT_TRUE(*opened == secret_of(1));
}

TEST(KeyFile, TellsAWrongPassphraseFromAMissingOne) {
    const std::string text = encrypted();
    EXPECT_EQ(open_key_file(text, as_bytes("Sesame")).error(), KeyFileFault::WrongPassphrase);
    EXPECT_EQ(open_key_file(text, as_bytes("")).error(), KeyFileFault::WrongPassphrase);
    EXPECT_EQ(open_key_file(text, Bytes(kPassphraseBytesMax + 1)).error(), KeyFileFault::WrongPassphrase);
    EXPECT_EQ(open_key_file(text, std::nullopt).error(), KeyFileFault::PassphraseNeeded);
}

TEST(KeyFile, WithoutEncryptionNeedsNoPassphraseAndIgnoresOne) {
    EXPECT_TRUE(*open_key_file(unencrypted(), std::nullopt) == secret_of(2));
    EXPECT_TRUE(*open_key_file(unencrypted(), as_bytes("anything")) == secret_of(2));
}

TEST(KeyFile, ThePublicPartNeedsNoPassphrase) {
    const auto info = read_key_file_public(encrypted());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->name, "alice");
    EXPECT_EQ(info->public_key, secret_of(1).public_key());
    EXPECT_EQ(info->created, kCreated);
    EXPECT_EQ(info->cost, kKdfCostMin);
    EXPECT_EQ(read_key_file_public(unencrypted())->cost, std::nullopt);
}

TEST(KeyFile, NeitherSecretNorPassphraseStandsInAnEncryptedFile) {
    const std::string text = encrypted();
    EXPECT_EQ(text.find(to_hex(secret_of(1).reveal())), std::string::npos);
    EXPECT_EQ(text.find("sesame"), std::string::npos);
    EXPECT_EQ(text.find(to_hex(as_bytes("sesame"))), std::string::npos);
}

TEST(KeyFile, BlanksAndOrderOfMembersDoNotCount) {
    const std::string compact = json::print_canonical(document_of(encrypted()));
    EXPECT_TRUE(*open_key_file(compact, as_bytes("sesame")) == secret_of(1));
}

TEST(KeyFile, ARenamedFileStillOpens) {
    const auto renamed = rename_key_file(encrypted(), "carol");
    ASSERT_TRUE(renamed);
    EXPECT_EQ(read_key_file_public(*renamed)->name, "carol");
    EXPECT_TRUE(*open_key_file(*renamed, as_bytes("sesame")) == secret_of(1));
    EXPECT_EQ(rename_key_file(encrypted(), "../carol").error(), KeyFileFault::BadName);
    EXPECT_EQ(rename_key_file("{}", "carol").error(), KeyFileFault::NotAKeyFile);
}

TEST(KeyFile, RefusesToMakeWhatItWouldNotOpen) {
    EXPECT_EQ(make_key_file("", secret_of(1), std::nullopt, entropy_of(1), kCreated).error(), KeyFileFault::BadName);
    EXPECT_EQ(make_key_file("a", secret_of(1), as_bytes(""), entropy_of(1), kCreated).error(),
              KeyFileFault::BadPassphrase);
    EXPECT_EQ(make_key_file("a", secret_of(1), Bytes(kPassphraseBytesMax + 1), entropy_of(1), kCreated).error(),
              KeyFileFault::BadPassphrase);
}

TEST(KeyFile, AnySingleChangedCharacterIsNoticed) {
    const std::string good = json::print(document_of(encrypted()));
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string changed = good;
        changed[at] = changed[at] == '0' ? '1' : '0';
        const auto info = read_key_file_public(changed);
        ASSERT_FALSE(info) << "at " << at;
        EXPECT_TRUE(info.error() == KeyFileFault::Damaged || info.error() == KeyFileFault::NotAKeyFile)
            << "at " << at << ": " << name(info.error());
    }
}

// Somebody who shows a sealed secret under another public key, with a right checksum, is found out when it is opened.
TEST(KeyFile, ASecretUnderAnotherPublicKeyDoesNotOpen) {
    json::Object document = document_of(encrypted());
    document.set("public", secret_of(2).public_key().hex());
    document.set("address", secret_of(2).public_key().address().hex());
    EXPECT_EQ(open_key_file(with_right_checksum(document), as_bytes("sesame")).error(), KeyFileFault::WrongPassphrase);

    json::Object plain = document_of(unencrypted());
    plain.set("secret", to_hex(secret_of(1).reveal()));
    EXPECT_EQ(open_key_file(with_right_checksum(plain), std::nullopt).error(), KeyFileFault::Mismatch);
    plain.set("secret", std::string(64, '0'));
    EXPECT_EQ(open_key_file(with_right_checksum(plain), std::nullopt).error(), KeyFileFault::Mismatch);
}

struct MemberCase {
    const char* why;
    std::function<void(json::Object&)> change;
    KeyFileFault fault;
};

TEST(KeyFile, EachMemberIsChecked) {
    const auto encryption = [](json::Object& document, std::string_view key, json::Value value) {
        document.find("encryption")->if_object()->set(key, std::move(value));
    };
    const MemberCase cases[] = {
        {"another kind", [](auto& d) { d.set("kind", "rhizome-lock"); }, KeyFileFault::NotAKeyFile},
        {"no kind", [](auto& d) { d.erase("kind"); }, KeyFileFault::NotAKeyFile},
        {"version 0", [](auto& d) { d.set("version", 0); }, KeyFileFault::NotAKeyFile},
        {"version as text", [](auto& d) { d.set("version", "1"); }, KeyFileFault::NotAKeyFile},
        {"version 2", [](auto& d) { d.set("version", 2); }, KeyFileFault::NewerVersion},
        {"no name", [](auto& d) { d.erase("name"); }, KeyFileFault::BadMember},
        {"a path as name", [](auto& d) { d.set("name", "a/b"); }, KeyFileFault::BadMember},
        {"an unknown member", [](auto& d) { d.set("comment", "mine"); }, KeyFileFault::BadMember},
        {"an unknown member of encryption", [&](auto& d) { encryption(d, "threads", 4); }, KeyFileFault::BadMember},
        {"a secret beside the sealed one", [](auto& d) { d.set("secret", std::string(64, '1')); },
         KeyFileFault::BadMember},
        {"no date", [](auto& d) { d.set("created", "yesterday"); }, KeyFileFault::BadMember},
        {"no public key", [](auto& d) { d.set("public", std::string(66, '0')); }, KeyFileFault::BadMember},
        {"a short public key", [](auto& d) { d.set("public", "02"); }, KeyFileFault::BadMember},
        {"another address", [](auto& d) { d.set("address", std::string(40, '0')); }, KeyFileFault::Mismatch},
        {"upper-case digits", [](auto& d) { d.set("nonce", std::string(48, 'A')); }, KeyFileFault::BadMember},
        {"a short nonce", [](auto& d) { d.set("nonce", std::string(46, 'a')); }, KeyFileFault::BadMember},
        {"a short sealed secret", [](auto& d) { d.set("sealed", std::string(94, 'a')); }, KeyFileFault::BadMember},
        {"another cipher", [](auto& d) { d.set("cipher", "rot13"); }, KeyFileFault::BadMember},
        {"encryption null", [](auto& d) { d.set("encryption", nullptr); }, KeyFileFault::BadMember},
        {"encryption none with sealed members", [](auto& d) { d.set("encryption", "none"); }, KeyFileFault::BadMember},
        {"another kdf", [&](auto& d) { encryption(d, "kdf", "md5"); }, KeyFileFault::BadMember},
        {"memory below the least", [&](auto& d) { encryption(d, "memoryKiB", 8191); }, KeyFileFault::BadMember},
        {"memory above the most", [&](auto& d) { encryption(d, "memoryKiB", (1 << 20) + 1); }, KeyFileFault::BadMember},
        {"memory beyond 64 bits",
         [&](auto& d) { encryption(d, "memoryKiB", *json::Number::from_text("99999999999999999999")); },
         KeyFileFault::BadMember},
        {"negative memory", [&](auto& d) { encryption(d, "memoryKiB", -8192); }, KeyFileFault::BadMember},
        {"no passes", [&](auto& d) { encryption(d, "passes", 0); }, KeyFileFault::BadMember},
        {"17 passes", [&](auto& d) { encryption(d, "passes", 17); }, KeyFileFault::BadMember},
        {"a fraction of passes", [&](auto& d) { encryption(d, "passes", *json::Number::from_text("1.0")); },
         KeyFileFault::BadMember},
    };
    for (const auto& row : cases) {
        SCOPED_TRACE(row.why);
        json::Object document = document_of(encrypted());
        row.change(document);
        const auto opened = open_key_file(with_right_checksum(document), as_bytes("sesame"));
        ASSERT_FALSE(opened);
        EXPECT_EQ(name(opened.error()), name(row.fault));
    }
}

TEST(KeyFile, TheCallersLimitIsKept) {
    json::Object document = document_of(encrypted());
    document.find("encryption")->if_object()->set("passes", 2);
    const std::string two_passes = with_right_checksum(document);
    EXPECT_EQ(open_key_file(two_passes, as_bytes("sesame"), kKdfCostMin).error(), KeyFileFault::TooCostly);
    EXPECT_EQ(open_key_file(two_passes, as_bytes("sesame")).error(), KeyFileFault::WrongPassphrase);
    EXPECT_TRUE(open_key_file(encrypted(), as_bytes("sesame"), kKdfCostMin));
}

TEST(KeyFile, LargeTextIsNotEvenParsed) {
    EXPECT_EQ(read_key_file_public(encrypted() + std::string(kKeyFileBytesMax, ' ')).error(), KeyFileFault::TooLarge);
}

TEST(KeyFile, NamesCannotLeaveAFolder) {
    for (const char* good : {"a", "alice", "a-b_c.d", "0", "a..b"}) EXPECT_TRUE(is_key_name(good)) << good;
    EXPECT_TRUE(is_key_name(std::string(63, 'a')));
    for (const char* bad : {"", ".", "..", "-a", "a-", ".a", "a.", "a/b", "../a", "A", "a b", "a\n", "ä", "_a"})
        EXPECT_FALSE(is_key_name(bad)) << bad;
    EXPECT_FALSE(is_key_name(std::string(64, 'a')));
    EXPECT_FALSE(is_key_name(std::string_view{"a\0b", 3}));
}

}  // namespace
}  // namespace rhizome::crypto
