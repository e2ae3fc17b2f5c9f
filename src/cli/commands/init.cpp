// SPDX-License-Identifier: Apache-2.0
// `rhizome init`: a new cluster with this machine as its first member.
#include <unistd.h>

#include <array>
#include <filesystem>

#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/first_chain.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/limits.h"
#include "node/founding.h"
#include "node/identity.h"
#include "runtime/entropy.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNewKey = "admin";
constexpr std::string_view kNewCluster = "rhizome";
/// Where the chain is made before it is moved to its place; a number follows, so that two calls do not meet.
constexpr std::string_view kUnfinished = ".init-";

/// This machine's name as Kubernetes takes it, whatever the administrator chose.
std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "node";
    std::string text;
    for (char c : std::string_view{name.data()}) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        text += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ? c : '-';
    }
    return node::is_subdomain(text) ? text : "node";
}

Result<std::string> checked_name(std::string name, std::string_view what) {
    if (node::is_subdomain(name)) return name;
    return fail(ErrorKind::Usage, fmt::format("{} {} is no name: letters a-z, digits, - and ., a letter or digit at "
                                              "both ends",
                                              what, printable(name)));
}

/// What the files say of the Cluster: the members of its spec, or a whole Cluster document.
struct Wanted {
    std::string name{};
    json::Object spec{};
};

Result<Wanted> wanted_of(Invocation& call) {
    Wanted wanted;
    for (const std::string& file : call.texts("spec")) {
        const std::string shown = file == "-" ? "stdin" : printable(file);
        TRY(const std::string text, read_input(call.console, file, ledger::kDocumentBytesMax));
        auto value = yaml::parse(text);
        if (!value) return Fail{with_context(shown, value.error())};
        const json::Value* spec = &*value;
        if (value->text_at({"kind"}) == "Cluster") {
            wanted.name = value->text_at({"metadata", "name"});
            spec = value->find("spec");
        }
        if (spec == nullptr) continue;
        if (!spec->is_object())
            return fail(ErrorKind::Invalid, fmt::format("{}: is neither a Cluster nor the members of its spec", shown));
        for (const auto& [key, member] : *spec->if_object()) wanted.spec.set(key, member);
    }
    if (!call.argument("NAME").empty()) wanted.name = call.argument("NAME");
    if (wanted.name.empty()) wanted.name = kNewCluster;
    TRY(wanted.name, checked_name(wanted.name, "NAME"));
    if (const auto consensus = call.if_text("consensus")) wanted.spec.set("consensus", *consensus);
    return wanted;
}

/// The cluster's owner: a key there is, or one that is kept once everything else has worked.
struct Owner {
    crypto::SecretKey secret;
    std::string name;
    std::optional<SecretBytes> passphrase{};
    bool is_new = false;
};

Result<Owner> owner_of(Invocation& call, const node::Keystore& store) {
    // Whoever has made a cluster here before owns the next one, too: the chain id is in everything that is signed, so
    // nothing that one cluster saw counts in another.
    const std::string name = call.if_text("key").value_or(std::string{kNewKey});
    if (call.if_text("key") || store.find(name).has_value()) {
        TRY(const auto info, key::find_key(call, store, name));
        TRY(auto secret, key::open_key(call, store, info));
        return Owner{std::move(secret), name};
    }
    TRY(key::check_is_free(call, store, name));
    TRY(auto passphrase, key::given_passphrase(call));
    for (;;) {
        SecretArray<crypto::SecretKey::kSize> bytes;
        runtime::fill_with_entropy(bytes.writable());
        auto secret = crypto::SecretKey::from_bytes(bytes.view());
        if (secret) return Owner{*std::move(secret), name, std::move(passphrase), true};
    }
}

Result<void> check_is_empty(const Invocation& call, const fs::path& folder) {
    std::error_code ignored;
    if (has_chain(folder))
        return fail(ErrorKind::Conflict, fmt::format("there is a chain in {0} already; it was not touched\n"
                                                     "'{1} chain show{2}' shows it; --data names another directory",
                                                     printable(folder.native()), call.program, data_words(call)));
    TRY(check_no_join_begun(call, folder));
    for (const auto* part : {"log", "index"}) {
        if (fs::exists(folder / part, ignored))
            return fail(ErrorKind::Conflict,
                        fmt::format("{0} has parts of a chain ({1}) but not the file that says whose: they were not "
                                    "touched\n"
                                    "move {1} away when it is of no use, or name another directory with --data",
                                    printable(folder.native()), part));
    }
    return ok();
}

Result<node::Identity> identity_of(Invocation& call, const fs::path& folder) {
    auto identity = node::load_identity(folder);
    if (!identity && identity.error().kind == ErrorKind::NotFound) return node::make_identity(folder);
    if (identity && identity->too_open)
        print_warning(call.console,
                      fmt::format("others can read this machine's keys in {0}\nchmod 600 {1}",
                                  node::seed_file(folder).native(), shell_word(node::seed_file(folder).native())));
    return identity;
}

/// A folder that goes away with what is in it.
struct Scratch {
    fs::path path;
    explicit Scratch(fs::path at) : path(std::move(at)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

Result<void> write_chain(const fs::path& folder, const node::Founded& founded, const OfflineChain& with,
                         Parallel& parallel) {
    TRY(auto chain, store::Chain::create(folder, founded.genesis, with.block_rules(), parallel));
    TRY(chain->add_made(founded.first, founded.first_applied));
    TRY(chain->store().sync());
    TRY(chain->store().mark_final(hash_of(founded.first.header)));  // the only voter sealed it
    return chain->close();
}

/// Moves what was made to its place, `format` last: without it nothing is taken for a chain.
Result<void> move_into_place(const fs::path& from, const fs::path& to) {
    TRY(auto names, runtime::list_folder(from, 100));
    std::erase(names, "format");
    std::erase(names, "lock");
    names.emplace_back("format");
    for (const std::string& name : names) {
        std::error_code failed;
        fs::rename(from / name, to / name, failed);
        if (failed)
            return fail(ErrorKind::Failed,
                        fmt::format("cannot move {} to {}: {}", (from / name).native(), to.native(), failed.message()));
    }
    return ok();
}

json::Value report_data(const node::Founded& founded, const Wanted& wanted, const std::string& node_name,
                        const fs::path& folder, const node::Keystore& keys, const Owner& owner) {
    const auto key = owner.secret.public_key();
    return json::Object{{"cluster", wanted.name},
                        {"chainId", founded.chain.hex()},
                        {"height", founded.first.header.height.number()},
                        {"tip", hash_of(founded.first.header).hex()},
                        {"node", node_name},
                        {"data", folder.native()},
                        {"seed", node::seed_file(folder).native()},
                        {"owner", json::Object{{"key", owner.name},
                                               {"address", key.address().hex()},
                                               {"publicKey", key.hex()},
                                               {"new", owner.is_new},
                                               {"path", keys.path_of(owner.name).native()}}}};
}

std::string report_text(const Invocation& call, const json::Value& data, const Owner& owner) {
    Fields fields;
    fields.add("cluster", std::string{data.text_at({"cluster"})});
    fields.add("chain id", std::string{data.text_at({"chainId"})});
    fields.add("node", std::string{data.text_at({"node"})});
    fields.add("data", std::string{data.text_at({"data"})});
    fields.add("node's keys", std::string{data.text_at({"seed"})});
    fields.add("owner", fmt::format("{} ({})", owner.name, data.text_at({"owner", "address"})));
    fields.add("owner's key", std::string{data.text_at({"owner", "path"})});
    return fields.render(call.console.out_style);
}

void say_next(Invocation& call, const Owner& owner) {
    if (owner.is_new && !owner.passphrase)
        print_warning(call.console,
                      fmt::format("the key {} is not encrypted: whoever can read its file owns the cluster\n"
                                  "--passphrase-file encrypts it; or make one with '{} key new' and give --key",
                                  owner.name, call.program));
    if (!call.console.err_is_terminal) return;
    const std::string data = data_words(call);
    call.console.err << fmt::format(
        "\nTry:\n"
        "  {0} chain show{1}\n"
        "  {0} state list{1}\n"
        "  {0} tx new pod.yaml{1} --out tx.json\n"
        "  {0} tx sign tx.json{1} --key {2} --out tx.json\n"
        "  {0} tx submit tx.json{1} --offline\n",
        call.program, data, shell_word(owner.name));
}

}  // namespace

Result<std::string> node_name_of_host(const Invocation& call) {
    return checked_name(call.if_text("node").value_or(host_name()), "--node");
}

bool has_chain(const fs::path& data) {
    std::error_code ignored;
    return fs::exists(data / "format", ignored);
}

Result<void> found_cluster(Invocation& call, const node::NodeTraits& traits) {
    TRY(const fs::path folder, data_folder_of(call));
    TRY(const Wanted wanted, wanted_of(call));
    TRY(const auto keys, key::keystore_of(call));
    TRY(const std::string node_name, node_name_of_host(call));
    TRY(check_is_empty(call, folder));
    TRY(const Owner owner, owner_of(call, keys));
    TRY(runtime::make_folder(folder, 0700));
    TRY(const auto identity, identity_of(call, folder));

    OfflineChain with;
    TRY(const node::Founded founded, node::found_cluster({.cluster = wanted.name,
                                                          .spec = wanted.spec,
                                                          .node = node_name,
                                                          .now = call.console.now(),
                                                          .owner = owner.secret,
                                                          .node_keys = identity.keys,
                                                          .traits = traits},
                                                         with.rules, with.pool));
    const Scratch unfinished{folder / fmt::format("{}{:016x}", kUnfinished, runtime::random_number())};
    TRY(write_chain(unfinished.path, founded, with, with.pool));
    if (owner.is_new) {
        const auto passphrase = owner.passphrase ? std::optional{owner.passphrase->view()} : std::nullopt;
        TRY(keys.add(owner.name, owner.secret, passphrase, call.console.now()));
    }
    TRY(move_into_place(unfinished.path, folder));

    const json::Value data = report_data(founded, wanted, node_name, folder, keys, owner);
    print_data(call, data, [&] { return report_text(call, data, owner); });
    call.console.out.flush();
    say_next(call, owner);
    return ok();
}

std::vector<Option> founding_options() {
    return {{.name = "consensus",
             .value_name = "ENGINE",
             .help = "how machines agree on blocks; default: authority",
             .choices = {{"authority", "members take turns"}, {"work", "whoever finds a nonce"}}},
            {.name = "spec",
             .value_name = "FILE",
             .help = "rules of the chain, - for stdin; of several the later wins",
             .repeatable = true,
             .completion = Completion::files()},
            {.name = "node", .value_name = "NAME", .help = "this machine's name; default: its host name"},
            {.name = "key",
             .letter = 'k',
             .value_name = "NAME",
             .help = "the key that owns the cluster; default: admin, which is made when there is none",
             .completion = Completion::of(key::key_names)},
            key::passphrase_file_option(),
            key::keys_option(),
            output_option()};
}

Command init_command() {
    std::vector<Option> options = founding_options();
    options.insert(options.begin(), data_option());
    return {
        .name = "init",
        .summary = "Make a new cluster with this machine as its first member",
        .details =
            "Makes the data directory with this machine's keys and a chain of two blocks: genesis, which holds the "
            "Cluster document and belongs to your key, and one that registers this machine as a Node and creates "
            "the namespaces and roles that Kubernetes' tools expect. Asks nothing.\n"
            "\n"
            "Your key decides about everything in the cluster. Without --key it is the one named admin in the key "
            "folder, which is made when there is none; give --passphrase-file to encrypt it, and keep a copy: it "
            "cannot "
            "be had back.\n"
            "\n"
            "--spec reads the rules of the chain: the members of a Cluster's spec, or a whole Cluster document, as "
            "YAML or JSON. Consensus and epoch are fixed from then on, all else can be changed by its owner.\n"
            "\n"
            "A directory with a chain is never touched (exit code 5). When something fails half way, nothing is left "
            "that would be taken for a chain.",
        .examples = {{"a cluster of this machine", "rhizome init"},
                     {"with a name, in a place of its own, owned by a key you have",
                      "rhizome init edge --data /srv/edge --key alice"},
                     {"with rules of your own", "echo 'heartbeat: 2s' | rhizome init --spec -"}},
        .arguments = {{.name = "NAME", .help = "the cluster's name; default: rhizome", .required = false}},
        .options = options,
        .variables = {key::passphrase_variable()},
        .run = [](Invocation& call) { return found_cluster(call, {.arch = node::machine_architecture()}); },
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
