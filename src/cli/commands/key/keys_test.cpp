// SPDX-License-Identifier: Apache-2.0
// The folder of keys: new, list, show, export, import.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/yaml.h"
#include "cli/commands/key/testing.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::KeyHarness;
using testing::kPassphrase;
using testing::read;

mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
}

TEST(KeyNew, AsksTwiceAndKeepsAnEncryptedKey) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.answers = {"open sesame", "open sesame"};
    const auto ran = harness.key({"new", "alice", "-o", "json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(harness.prompts, (std::vector<std::string>{"New passphrase for alice: ", "The same again: "}));
    const auto data = json::parse(ran.out);
    ASSERT_TRUE(data);
    const auto path = harness.store.path_of("alice");
    EXPECT_EQ(data->text_at({"name"}), "alice");
    EXPECT_EQ(data->text_at({"path"}), path.native());
    EXPECT_EQ(data->text_at({"created"}), "2026-11-15T21:27:31Z");
    EXPECT_EQ(data->text_at({"kdf", "name"}), "argon2id");
    EXPECT_EQ(mode_of(path), 0600u);
    EXPECT_EQ(mode_of(harness.store.folder()), 0700u);

    const auto loaded = harness.store.load("alice", as_bytes("open sesame"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(data->text_at({"publicKey"}), loaded->secret.public_key().hex());
    EXPECT_EQ(data->text_at({"address"}), loaded->secret.public_key().address().hex());
    EXPECT_EQ(loaded->info.cost, crypto::KdfCost{}) << "a person's key has the full cost";
    EXPECT_FALSE(has(read(path), to_hex(loaded->secret.reveal())));
}

TEST(KeyNew, TakesThePassphraseFromAFileOrTheEnvironment) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto file = harness.write("pass", "first line\r\nsecond line\n", 0600);
    const auto from_file = harness.key({"new", "alice", "--passphrase-file", file});
    EXPECT_EQ(from_file.code, 0) << from_file.err;
    EXPECT_EQ(from_file.err, "");
    EXPECT_TRUE(harness.store.load("alice", as_bytes("first line")));
    harness.console.environment.set("RHIZOME_PASSPHRASE", "from outside");
    EXPECT_EQ(harness.key({"new", "bob"}).code, 0);
    EXPECT_TRUE(harness.store.load("bob", as_bytes("from outside")));
    EXPECT_TRUE(harness.prompts.empty());
}

TEST(KeyNew, RefusesBadPassphrasesAndMakesNothing) {
    struct Row {
        const char* name;
        std::vector<std::string> answers;
        std::vector<std::string> options;
        int code;
        const char* says;
    };
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto empty = harness.write("empty", "\nx\n", 0600);
    const auto large = harness.write("large", std::string(5000, 'x'), 0600);
    const auto longer = harness.write("long", std::string(1025, 'x'), 0600);
    const Row rows[] = {
        {"differ", {"one", "two"}, {}, 1, "the two passphrases differ"},
        {"empty answer", {""}, {}, 2, "an empty passphrase protects nothing"},
        {"empty line", {}, {"--passphrase-file", empty}, 2, "is empty"},
        {"large file", {}, {"--passphrase-file", large}, 1, "large"},
        {"too long", {}, {"--passphrase-file", longer}, 2, "1025 bytes"},
        {"no file", {}, {"--passphrase-file", "/nowhere"}, 3, "/nowhere"},
        {"both", {}, {"--passphrase-file", longer, "--no-passphrase"}, 2, "contradict"},
    };
    for (const auto& row : rows) {
        harness.answers = {row.answers.begin(), row.answers.end()};
        std::vector<std::string> words{"new", "alice"};
        words.insert(words.end(), row.options.begin(), row.options.end());
        const auto ran = harness.key(words);
        EXPECT_EQ(ran.code, row.code) << row.name << "\n" << ran.err;
        EXPECT_TRUE(has(ran.err, row.says)) << row.name << "\n" << ran.err;
        EXPECT_EQ(ran.out, "") << row.name;
        EXPECT_FALSE(std::filesystem::exists(harness.store.path_of("alice"))) << row.name;
    }
}

TEST(KeyNew, WithoutATerminalSaysWhichOptionsThereAre) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    // As in a container, where the terminal cannot be opened, and as in a test, where nobody is there at all.
    harness.console.ask_passphrase = [](std::string_view) -> Result<SecretBytes> {
        return fail(ErrorKind::Usage, "there is no terminal");
    };
    const auto ran = harness.key({"new", "alice"});
    EXPECT_EQ(ran.code, 2);
    for (const auto* option : {"--passphrase-file", "RHIZOME_PASSPHRASE", "--no-passphrase"})
        EXPECT_TRUE(has(ran.err, option)) << ran.err;
    harness.console.ask_passphrase = nullptr;
    EXPECT_EQ(harness.key({"new", "alice"}).err, ran.err);
}

TEST(KeyNew, WithoutAPassphraseSaysSo) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto ran = harness.key({"new", "dev", "--no-passphrase"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(has(ran.err, "warning: for development only: the key is not encrypted")) << ran.err;
    EXPECT_TRUE(has(ran.out, "encrypted    no\n")) << ran.out;
    EXPECT_TRUE(harness.store.load("dev", {}));
    EXPECT_TRUE(harness.prompts.empty());
}

TEST(KeyNew, NeverReplacesAKeyAndDoesNotAskBeforeSayingSo) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    harness.spoil("broken");
    for (const auto* name : {"alice", "broken"}) {
        const auto before = read(harness.store.path_of(name));
        const auto ran = harness.key({"new", name});
        EXPECT_EQ(ran.code, 5) << ran.err;
        EXPECT_TRUE(has(ran.err, "keys are never replaced\nhint: choose another name")) << ran.err;
        EXPECT_TRUE(harness.prompts.empty());
        EXPECT_EQ(read(harness.store.path_of(name)), before);
    }
}

TEST(KeyCommands, RefuseBadNames) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    for (const auto* name : {"", "Alice", "../alice", "a/b", "-x", "a b", "\x1b[31mred", "alice."}) {
        for (const auto* verb : {"new", "show", "export", "sign"}) {
            const auto ran = harness.key({verb, "--", name});
            EXPECT_EQ(ran.code, 2) << verb << ' ' << name << "\n" << ran.err;
            EXPECT_TRUE(has(ran.err, "lower-case letters and digits")) << ran.err;
            EXPECT_FALSE(has(ran.err, "\x1b")) << "escape sequences do not reach the terminal";
        }
    }
    EXPECT_FALSE(std::filesystem::exists(harness.store.folder()));
}

TEST(KeyCommands, FindTheFolder) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto& root = harness.folder;
    const auto folder_said = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"key", "list", "-o", "json"});
        const auto ran = harness.run(command_tree(), more);
        const auto data = json::parse(ran.out);
        return data ? std::string{data->text_at({"folder"})} : ran.err;
    };
    harness.console.environment = runtime::Environment{{{"HOME", root.native()}}};
    EXPECT_EQ(folder_said({}), root / ".local/share/rhizome/keys");
    harness.console.environment.set("XDG_DATA_HOME", root / "xdg");
    EXPECT_EQ(folder_said({}), root / "xdg/rhizome/keys");
    harness.console.environment.set("RHIZOME_KEYS", root / "variable");
    EXPECT_EQ(folder_said({}), root / "variable");
    EXPECT_EQ(folder_said({"--keys", root / "option"}), root / "option");
    EXPECT_TRUE(has(folder_said({"--keys", ""}), "needs the name of a folder"));
    harness.console.environment = runtime::Environment{};
    EXPECT_EQ(harness.run(command_tree(), {"key", "list"}).code, 3);
}

TEST(KeyList, SaysHowToMakeTheFirst) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto ran = harness.key({"list"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err, "no keys in " + harness.store.folder().native() + "\nmake one with 'rhizome key new NAME'\n");
    EXPECT_EQ(yaml::parse(harness.key({"list", "-o", "yaml"}).out)->text_at({"folder"}),
              harness.store.folder().native());
}

TEST(KeyList, ShowsKeysAndWhatIsDamaged) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto alice = harness.make("alice");
    const auto dev = harness.make("dev", {});
    harness.spoil("rotten");
    harness.write_key("stray", "not json");
    harness.console.now = [] { return testing::kNow + hours{24 * 12}; };
    const auto ran = harness.key({"list"});
    EXPECT_EQ(ran.code, 0) << "a damaged file stops nothing";
    const auto line = [](std::string_view name, std::string_view age, std::string_view encrypted,
                         const std::string& address, const std::string& key) {
        return fmt::format("{:<9}{:<6}{:<12}{:<43}{}\n", name, age, encrypted, address, key);
    };
    EXPECT_EQ(
        ran.out,
        line("NAME", "AGE", "ENCRYPTED", "ADDRESS", "PUBLIC-KEY") +
            line("alice", "12d", "yes", alice.public_key.address().hex(), alice.public_key.hex().substr(0, 8) + "…") +
            line("dev", "12d", "no", dev.public_key.address().hex(), dev.public_key.hex().substr(0, 8) + "…") +
            line("rotten", "-", "-", "(damaged)", "-") + line("stray", "-", "-", "(cannot be used)", "-"));
    EXPECT_TRUE(has(ran.err, "warning: " + harness.store.path_of("rotten").native() + ": the key file is damaged"));
    EXPECT_TRUE(has(ran.err, "warning: " + harness.store.path_of("stray").native() + ": this is not a key file"));

    const auto data = json::parse(harness.key({"list", "-o", "json"}).out);
    ASSERT_TRUE(data);
    const auto& keys = *data->if_object()->find("keys")->if_array();
    ASSERT_EQ(keys.size(), 4u);
    EXPECT_EQ(keys[0].text_at({"publicKey"}), alice.public_key.hex());
    EXPECT_TRUE(has(std::string{keys[2].text_at({"error"})}, "damaged"));

    harness.console.out_width = 72;
    EXPECT_FALSE(has(harness.key({"list"}).out, "PUBLIC-KEY")) << "it does not fit";
    harness.console.out_width = 90;
    harness.console.out_style = Style{true};
    EXPECT_TRUE(has(harness.key({"list"}).out, "PUBLIC-KEY"));
}

TEST(KeyCommands, WarnWhenOthersCanGetAtKeys) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    const auto path = harness.store.path_of("alice");
    ASSERT_EQ(harness.key({"show", "alice"}).err, "");
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    ASSERT_EQ(::chmod(harness.store.folder().c_str(), 0755), 0);
    const auto expected = fmt::format(
        "warning: others can look into the key folder {0}\nhint: chmod 700 {0}\n"
        "warning: others can read or change the key file {1}\nhint: chmod 600 {1}\n",
        harness.store.folder().native(), path.native());
    EXPECT_EQ(harness.key({"show", "alice"}).err, expected);
    EXPECT_EQ(harness.key({"list"}).err, expected);
    EXPECT_EQ(mode_of(path), 0640u) << "it is the person's to change";
    const auto open = harness.write("pass", std::string{kPassphrase} + "\n", 0644);
    const auto ran = harness.key({"sign", "alice", path, "--passphrase-file", open});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(has(ran.err, "others can read the passphrase file " + open + "\nhint: chmod 600 " + open)) << ran.err;
}

TEST(KeyShow, PrintsAllOrOneValue) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    EXPECT_EQ(harness.key({"show", "alice", "--public"}).out, info.public_key.hex() + "\n");
    EXPECT_EQ(harness.key({"show", "alice", "--address"}).out, info.public_key.address().hex() + "\n");
    EXPECT_EQ(harness.key({"show", "alice", "--address", "--public"}).code, 2);
    const auto all = harness.key({"show", "alice"});
    EXPECT_EQ(all.out, fmt::format("name         alice\naddress      {}\npublic key   {}\n"
                                   "created      2026-11-15T21:27:31Z (0s ago)\n"
                                   "encrypted    yes (argon2id, 8 MiB, 1 pass)\nfile         {}\n",
                                   info.public_key.address().hex(), info.public_key.hex(),
                                   harness.store.path_of("alice").native()));
    const auto absent = harness.key({"show", "alcie"});
    EXPECT_EQ(absent.code, 3);
    EXPECT_TRUE(has(absent.err, "hint: did you mean \"alice\"?\nhint: 'rhizome key list'")) << absent.err;
}

TEST(KeyExport, WritesAFileThatOnlyTheOwnerReadsAndNeverOverwrites) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    const auto text = read(harness.store.path_of("alice"));
    const std::string copy = harness.folder / "copy";
    EXPECT_EQ(harness.key({"export", "alice"}).out, text);
    EXPECT_EQ(harness.key({"export", "alice", "-"}).out, text);
    const auto wrote = harness.key({"export", "alice", copy});
    EXPECT_EQ(wrote.code, 0);
    EXPECT_EQ(wrote.out, "");
    EXPECT_EQ(read(copy), text);
    EXPECT_EQ(mode_of(copy), 0600u);
    harness.make("bob");
    const auto again = harness.key({"export", "bob", copy});
    EXPECT_EQ(again.code, 5);
    EXPECT_TRUE(has(again.err, "never overwritten")) << again.err;
    EXPECT_EQ(read(copy), text);
    EXPECT_EQ(harness.key({"export", "alice", "--public"}).out, info.public_key.hex() + "\n");
    EXPECT_EQ(harness.key({"export", "alice", "--public", harness.folder / "pub"}).code, 0);
    EXPECT_EQ(read(harness.folder / "pub"), info.public_key.hex() + "\n");
}

TEST(KeyExport, KeepsBareSecretsOffTheScreen) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("dev", {});
    harness.make("alice");
    harness.console.out_is_terminal = true;
    const auto refused = harness.key({"export", "dev"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(has(refused.err, "--force")) << refused.err;
    EXPECT_EQ(harness.key({"export", "dev", "--public"}).code, 0);
    EXPECT_EQ(harness.key({"export", "alice"}).code, 0) << "encrypted";
    EXPECT_EQ(harness.key({"export", "dev", "--force"}).out, read(harness.store.path_of("dev")));
    EXPECT_EQ(harness.key({"export", "dev", harness.folder / "copy"}).code, 0);
    harness.console.out_is_terminal = false;
    const auto piped = harness.key({"export", "dev"});
    EXPECT_EQ(piped.code, 0);
    EXPECT_TRUE(has(piped.err, "warning: this copy is not encrypted"));
}

TEST(KeyImport, BringsAnExportedKeyBack) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    const auto text = harness.key({"export", "alice"}).out;
    const auto copy = harness.write("copy", text, 0600);
    EXPECT_EQ(harness.key({"import", copy}).code, 5) << "it is still there";
    std::filesystem::remove(harness.store.path_of("alice"));
    const auto ran = harness.key({"import", copy, "-o", "json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(json::parse(ran.out)->text_at({"publicKey"}), info.public_key.hex());
    EXPECT_EQ(read(harness.store.path_of("alice")), text);

    harness.in.str(text);
    EXPECT_EQ(harness.key({"import", "-", "--name", "again"}).code, 0);
    EXPECT_TRUE(harness.store.load("again", as_bytes(kPassphrase)));
    EXPECT_EQ(harness.key({"import", copy, "--name", "Bad"}).code, 2);
    EXPECT_EQ(harness.key({"import", copy, "--name", "x", "--no-passphrase"}).code, 2);
    EXPECT_EQ(harness.key({"import", harness.folder / "absent"}).code, 3);
}

TEST(KeyImport, RefusesDamagedFilesByName) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    harness.make("alice");
    auto text = harness.key({"export", "alice"}).out;
    const auto digit = text.find("\"sealed\": \"") + 11;
    text[digit] = text[digit] == '0' ? '1' : '0';
    const auto bad = harness.write("bad", text, 0600);
    const auto ran = harness.key({"import", bad, "--name", "x"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(has(ran.err, "error: " + bad + ": the key file is damaged")) << ran.err;
    const auto hex = harness.write("hex", std::string(64, '1') + "\n", 0600);
    EXPECT_TRUE(has(harness.key({"import", hex}).err, "needs --secret-hex"));
    const auto large = harness.write("large", std::string(20'000, ' '), 0600);
    EXPECT_EQ(harness.key({"import", large}).code, 1);
    harness.in.str(std::string(20'000, ' '));
    EXPECT_TRUE(has(harness.key({"import", "-"}).err, "stdin has more than"));
    EXPECT_FALSE(std::filesystem::exists(harness.store.path_of("x")));
}

TEST(KeyImport, TakesABareSecret) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const std::string secret = std::string(63, '0') + "1";
    const std::string generator = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    harness.in.str(" " + secret + "\r\n");
    EXPECT_EQ(harness.key({"import", "-", "--secret-hex", "--no-passphrase", "--name", "one"}).code, 0);
    EXPECT_EQ(harness.key({"show", "one", "--public"}).out, generator + "\n");

    harness.console.in_is_terminal = true;  // typed: not echoed
    harness.answers = {secret, "pass", "pass"};
    EXPECT_EQ(harness.key({"import", "-", "--secret-hex", "--name", "two"}).code, 0);
    EXPECT_EQ(harness.prompts.size(), 3u);
    EXPECT_EQ(harness.store.load("two", as_bytes("pass"))->secret.public_key().hex(), generator);
    harness.console.in_is_terminal = false;

    EXPECT_EQ(harness.key({"import", "-", "--secret-hex"}).code, 2) << "no name";
    for (const auto& text : {std::string{}, secret + "00", std::string(64, 'g'), std::string(64, '0'),
                             std::string(64, 'f'), "0x" + secret, std::string(300, '1')}) {
        harness.in.clear();
        harness.in.str(text);
        const auto ran = harness.key({"import", "-", "--secret-hex", "--no-passphrase", "--name", "bad"});
        EXPECT_EQ(ran.code, 1) << text;
        EXPECT_TRUE(has(ran.err, "stdin")) << ran.err;
        EXPECT_TRUE(text.empty() || !has(ran.err, text)) << "a secret with a typing mistake is still one";
    }
}

TEST(KeyCompletion, OffersTheNamesOfKeys) {
    const test::TempFolder folder;
    KeyHarness harness{folder.path()};
    const auto info = harness.make("alice");
    harness.make("bob");
    harness.spoil("rotten");
    harness.console.environment.set("RHIZOME_KEYS", harness.store.folder());
    EXPECT_EQ(harness.run(command_tree(), {"__complete", "--", "key", "sign", "al"}).out,
              "alice\t" + info.public_key.address().hex() + "\n:4\n");
    EXPECT_TRUE(has(harness.run(command_tree(), {"__complete", "--", "key", "verify", ""}).out, "bob\t"));
    EXPECT_EQ(harness.run(command_tree(), {"__complete", "--", "key", "sign", "alice", ""}).out, ":0\n") << "files";
    harness.console.environment = runtime::Environment{};
    EXPECT_EQ(harness.run(command_tree(), {"__complete", "--", "key", "show", ""}).out, ":4\n");
}

}  // namespace
}  // namespace rhizome::cli
