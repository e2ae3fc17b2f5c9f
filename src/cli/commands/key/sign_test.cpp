// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "cli/commands/key/testing.h"
#include "crypto/hash.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::KeyHarness;
using testing::kPassphrase;
using testing::read;

std::string signature_by(KeyHarness& harness, const std::string& name, const std::string& file) {
    harness.answers.emplace_back(kPassphrase);
    const auto ran = harness.key({"sign", name, file});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
}

TEST(KeySign, SignsTheTaggedHashOfTheMessage) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    const auto note = harness.write("note.txt", "I agree\n");
    const auto line = signature_by(harness, "alice", note);
    EXPECT_EQ(harness.prompts, std::vector<std::string>{"Passphrase for alice: "});
    ASSERT_TRUE(line.ends_with('\n'));
    const auto der = from_hex(line.substr(0, line.size() - 1)).value();
    const auto message = as_bytes("I agree\n");
    EXPECT_TRUE(
        crypto::verify_der(info.public_key.bytes(), crypto::tagged_hash(crypto::HashTag::Message, message), der));
    EXPECT_FALSE(crypto::verify_der(info.public_key.bytes(), crypto::sha256(message), der))
        << "a plain hash is what other protocols sign";
    for (const auto tag : {crypto::HashTag::Seal, crypto::HashTag::KeyFile, crypto::HashTag::Possession})
        EXPECT_FALSE(crypto::verify_der(info.public_key.bytes(), crypto::tagged_hash(tag, message), der));

    harness.console.environment.set("RHIZOME_PASSPHRASE", std::string{kPassphrase});
    const auto data = yaml::parse(harness.key({"sign", "alice", note, "-o", "yaml"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->text_at({"key"}), "alice");
    EXPECT_EQ(data->text_at({"address"}), info.public_key.address().hex());
    EXPECT_EQ(data->text_at({"signature"}), to_hex(der));
    EXPECT_EQ(data->text_at({"digest"}), crypto::tagged_hash(crypto::HashTag::Message, message).hex());
}

TEST(KeySign, ReadsFilesAndPipesOfAnySizeAlike) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("dev", {});
    std::string large(1'000'003, '\0');  // no whole number of pieces
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 % 251);
    for (const auto& text : {std::string{}, std::string{"x"}, std::string(65'536, 'y'), large}) {
        const auto file = harness.write("message", text);
        const auto from_file = harness.key({"sign", "dev", file});
        ASSERT_EQ(from_file.code, 0) << from_file.err;
        for (const std::vector<std::string>& words : {std::vector<std::string>{"sign", "dev"}, {"sign", "dev", "-"}}) {
            harness.in.clear();
            harness.in.str(text);
            EXPECT_EQ(harness.key(words).out, from_file.out) << text.size();
        }
        harness.in.clear();
        harness.in.str(text);
        EXPECT_EQ(harness.key({"verify", "dev", "--signature", harness.write("sig", from_file.out)}).code, 0);
    }
    EXPECT_TRUE(harness.prompts.empty());
}

TEST(KeySign, TellsAFileThatCannotBeReadBeforeAsking) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    EXPECT_EQ(harness.key({"sign", "alice", harness.folder / "absent"}).code, 3);
    EXPECT_EQ(harness.key({"sign", "alice", harness.folder}).code, 1) << "a folder";
    harness.in.setstate(std::ios_base::badbit);
    const auto ran = harness.key({"sign", "alice"});
    EXPECT_EQ(ran.code, 1) << "half a message is not signed";
    EXPECT_TRUE(has(ran.err, "stdin"));
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(harness.prompts.empty());
}

TEST(KeySign, AWrongPassphraseAndADamagedFileAreDifferentAndChangeNothing) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    const auto note = harness.write("note.txt", "x");
    const auto path = harness.store.path_of("alice");
    const auto whole = read(path);
    harness.answers = {"wrong"};
    const auto wrong = harness.key({"sign", "alice", note});
    EXPECT_EQ(wrong.code, 4);
    EXPECT_EQ(wrong.err, "error: " + path.native() + ": wrong passphrase; the file is unchanged\n");
    EXPECT_EQ(wrong.out, "");
    EXPECT_EQ(read(path), whole);

    // A copy of the file with any one byte flipped is never taken for a wrong passphrase, and survives as it is.
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        harness.write_key("copy", flipped);
        harness.answers = {std::string{kPassphrase}};
        const auto ran = harness.key({"sign", "copy", note});
        EXPECT_EQ(read(harness.store.path_of("copy")), flipped) << at;
        EXPECT_EQ(ran.code, 1) << at << ran.err;
        EXPECT_TRUE(has(ran.err, harness.store.path_of("copy").native())) << ran.err;
        EXPECT_TRUE(has(ran.err, "key import COPY --name copy")) << ran.err;
        EXPECT_FALSE(has(ran.err, "wrong passphrase")) << at;
    }
    const auto spoiled = harness.spoil("alice");
    const auto damaged = harness.key({"sign", "alice", note});
    EXPECT_EQ(damaged.code, 1);
    EXPECT_TRUE(has(damaged.err, path.native() + ": the key file is damaged")) << damaged.err;
    EXPECT_TRUE(has(damaged.err, "backup")) << damaged.err;
    EXPECT_EQ(read(path), spoiled);
}

TEST(KeySign, WithoutATerminalSaysWhichOptionsThereAre) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    harness.console.ask_passphrase = nullptr;
    const auto ran = harness.key({"sign", "alice", harness.write("note", "x")});
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(has(ran.err, "hint: give --passphrase-file FILE, or set RHIZOME_PASSPHRASE")) << ran.err;
    const auto no_option = harness.key({"sign", "alice", "--digest", std::string(64, '0')});
    EXPECT_EQ(no_option.code, 2) << "hashes are not signed blindly";
}

TEST(KeyVerify, AcceptsASignatureByNameOrPublicKey) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    const auto note = harness.write("note.txt", "I agree\n");
    const auto line = signature_by(harness, "alice", note);
    const auto file = harness.write("note.sig", line);
    const auto hex = line.substr(0, line.size() - 1);
    const auto good = harness.key({"verify", "alice", note, "--signature", file});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(good.out, "good signature: alice signed " + note + "\n");
    EXPECT_EQ(harness.prompts.size(), 1u) << "checking needs no passphrase";
    EXPECT_EQ(harness.key({"verify", "alice", note, "-s", hex}).code, 0);
    EXPECT_EQ(harness.key({"verify", info.public_key.hex(), note, "-s", file}).code, 0);
    harness.in.str(line);
    EXPECT_EQ(harness.key({"verify", "alice", note, "-s", "-"}).code, 0);
    EXPECT_EQ(harness.key({"verify", "alice", "-s", "-"}).code, 2) << "one stdin for two";
    for (const auto* format : {"json", "yaml"}) {
        harness.answers = {std::string{kPassphrase}};
        const auto document = harness.write("document", harness.key({"sign", "alice", note, "-o", format}).out);
        EXPECT_EQ(harness.key({"verify", "alice", note, "-s", document}).code, 0) << format;
    }
}

TEST(KeyVerify, NamesWhatIsWrong) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto alice = harness.make("alice");
    const auto bob = harness.make("bob");
    const auto note = harness.write("note.txt", "I agree\n");
    const auto other = harness.write("other.txt", "I agree!\n");
    const auto line = signature_by(harness, "alice", note);
    const auto hex = line.substr(0, line.size() - 1);
    const auto high = [&] {
        auto compact = crypto::Signature::from_der(*from_hex(hex))->to_compact();
        // n − s, the other form of the same signature
        const auto order = *from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
        int borrow = 0;
        for (std::size_t i = 32; i-- > 0;) {
            const int digit = order[i] - compact[32 + i] - borrow;
            borrow = digit < 0 ? 1 : 0;
            compact[32 + i] = static_cast<std::uint8_t>(digit & 0xff);
        }
        return to_hex(crypto::Signature::from_compact(compact)->to_der());
    }();
    struct Row {
        const char* name;
        std::string key;
        std::string file;
        std::string signature;
        int code;
        std::string says;
    };
    const Row rows[] = {
        {"another text", "alice", other, hex, 4, "bad signature: " + other + " was changed, or alice did not sign it"},
        {"another key", "bob", note, hex, 4, "bad signature"},
        {"another public key", bob.public_key.hex(), note, hex, 4, "bad signature"},
        {"cut", "alice", note, hex.substr(0, hex.size() - 2), 1, "not strict DER"},
        {"high S", "alice", note, high, 1, "high S"},
        {"no signature in the file", "alice", note, note, 1, "holds no signature"},
        {"an empty file", "alice", note, harness.write("empty", ""), 1, "holds no signature"},
        {"a large file", "alice", note, harness.write("large", std::string(5000, '0')), 1, "large"},
        {"no such file", "alice", note, "nowhere.sig", 3, "hint: --signature takes a file"},
        {"no such message", "alice", "nowhere.txt", hex, 3, "nowhere.txt"},
        {"no such key", "carol", note, hex, 3, "no key named \"carol\""},
        {"no point", "02" + std::string(64, 'f'), note, hex, 1, "not a public key"},
        {"an address", alice.public_key.address().hex(), note, hex, 3, "an address is not enough"},
        {"half a key", alice.public_key.hex().substr(0, 64), note, hex, 2, "has 66 hexadecimal digits, this has 64"},
    };
    for (const auto& row : rows) {
        const auto ran = harness.key({"verify", row.key, row.file, "--signature", row.signature});
        EXPECT_EQ(ran.code, row.code) << row.name << "\n" << ran.err;
        EXPECT_TRUE(has(ran.err, row.says)) << row.name << "\n" << ran.err;
        EXPECT_EQ(ran.out, "") << row.name;
    }
    EXPECT_EQ(harness.key({"verify", "alice", note}).code, 2) << "--signature is required";
}

}  // namespace
}  // namespace rhizome::cli
