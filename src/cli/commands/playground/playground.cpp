// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/playground.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>

#include <fmt/core.h>

#include "cli/commands/node/up.h"
#include "cli/text.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "runtime/files.h"
#include "runtime/network_namespace.h"
#include "runtime/os_error.h"
#include "runtime/process.h"

namespace rhizome::cli::playground {
namespace {

namespace fs = std::filesystem;
using runtime::Descriptor;

constexpr seconds kReadyMax{120};
constexpr seconds kEndMax{10};
constexpr int kLookMillis = 50;
constexpr milliseconds kAnswerMax{1'000};
/// A token outlives the slowest start.
constexpr std::string_view kTokenLasts = "10m";
/// Of a node's Kubernetes API, as its own listener has it.
constexpr int kBacklog = 512;

/// Held while somebody changes the playground.
Result<Descriptor> lock_folder(const fs::path& folder) {
    const std::string file = (folder / "lock").native();
    Descriptor lock{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!lock) return Fail{runtime::os_error("lock " + file, errno)};
    while (::flock(lock.get(), LOCK_EX) != 0)
        if (errno != EINTR) return Fail{runtime::os_error("lock " + file, errno)};
    return lock;
}

/// What a machine or a shell has set for its own node is not meant for these.
runtime::Environment environment_of_nodes() {
    const auto all = runtime::Environment::of_process();
    runtime::Environment kept;
    for (const auto& [name, value] : all.all())
        if (!name.starts_with("RHIZOME_")) kept.set(name, value);
    return kept;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
}

/// The port where the kernel's own choices begin: those it gives to outgoing connections as well.
unsigned kernels_ports_from() {
    const auto text = runtime::read_file("/proc/sys/net/ipv4/ip_local_port_range", 64);
    unsigned first = 0;
    if (text) (void)std::from_chars(text->data(), text->data() + text->size(), first);
    return first;
}

/// Binds to a free port of the loopback, and says which. None of the kernel's choice where others are free: a node that
/// was killed finds its port again when it starts, since no connection can have taken it meanwhile.
bool bind_to_free_port(const Descriptor& socket, sockaddr_in& at) {
    constexpr unsigned kFirst = 10'000;
    constexpr int kAttempts = 64;
    const unsigned end = kernels_ports_from();
    const auto bound = [&] {
        socklen_t size = sizeof at;
        return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
               ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0;
    };
    for (int attempt = 0; attempt < kAttempts && end > kFirst; ++attempt) {
        at = loopback(static_cast<std::uint16_t>(kFirst + runtime::random_number() % (end - kFirst)));
        if (bound()) return true;
        if (errno != EADDRINUSE) return false;
    }
    at = loopback(0);
    return bound();
}

/// Each node has a network of its own, and the router an interface in each: 10.N.0.2 and 10.N.0.1. They differ in the
/// second byte since nodes take care not to have all their links in one network of 65,536 addresses.
runtime::Ipv4 address_of(unsigned node) { return 0x0a000002u | node << 16; }
std::string interface_of(unsigned node) { return fmt::format("n{}", node); }

/// A socket of this machine's own network that listens already, to be handed to a node: also one that lives in another
/// network is asked there. At the port of `address`, or at a free one when it is empty; then `address` says where.
Result<Descriptor> listen_for(std::string& address) {
    Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!socket) return Fail{runtime::os_error("open a socket", errno)};
    const int yes = 1;
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    std::uint16_t port = 0;
    if (const std::size_t colon = address.rfind(':'); colon != std::string::npos)
        (void)std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    sockaddr_in at = loopback(port);
    const bool is_bound = port == 0 ? bind_to_free_port(socket, at)
                                    : ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    if (!is_bound || ::listen(socket.get(), kBacklog) != 0)
        return Fail{runtime::os_error("listen on " + (address.empty() ? "the loopback" : address), errno)};
    address = fmt::format("127.0.0.1:{}", ntohs(at.sin_port));
    return socket;
}

Fail<Error> no_playground(const fs::path& folder) {
    return fail(ErrorKind::NotFound, fmt::format("there is no playground in {}\n'rhizome playground up' makes one; "
                                                 "--dir names another directory",
                                                 printable(folder.native())));
}

}  // namespace

fs::path Playground::data_of(unsigned node) const { return folder_ / interface_of(node); }

bool Playground::is_up(unsigned node) const { return runtime::is_running(record_.nodes[node - 1].process); }

std::set<unsigned> Playground::nodes_up() const {
    std::set<unsigned> up;
    for (unsigned node = 1; node <= record_.count(); ++node)
        if (is_up(node)) up.insert(node);
    return up;
}

Result<void> Playground::check_node(unsigned node) const {
    if (node >= 1 && node <= record_.count()) return ok();
    return fail(ErrorKind::Usage,
                fmt::format("{} is no node of this playground: they are 1 to {}", node, record_.count()));
}

Result<std::unique_ptr<node::RpcClient>> Playground::client(unsigned node) const {
    TRY(check_node(node));
    if (!is_up(node))
        return fail(ErrorKind::Unavailable,
                    fmt::format("n{} does not run\n'rhizome playground start {}' starts it again", node, node));
    return node::RpcClient::connect(data_of(node));
}

std::string Playground::last_words(unsigned node) const {
    const auto error = last_error_in(fs::path{data_of(node)} += ".stderr");
    return error ? *error : fmt::format("'rhizome playground logs {}' may say why", node);
}

// ---- starting -----------------------------------------------------------------------------------------------------

Result<Playground> Playground::open(const fs::path& folder) {
    auto record = read_record(folder);
    if (!record && record.error().kind == ErrorKind::NotFound) return no_playground(folder);
    if (!record) return Fail{std::move(record).error()};
    if (!record->ready)
        return fail(ErrorKind::Conflict, fmt::format("the playground in {} is being started, or 'up' was ended before "
                                                     "it was done\n'rhizome playground down' takes it away",
                                                     printable(folder.native())));
    return Playground{folder, "/proc/self/exe", false, *std::move(record)};
}

Result<Playground> Playground::up(const Wish& wish) {
    TRY(runtime::make_folder(wish.folder, 0700));
    TRY(const auto lock, lock_folder(wish.folder));
    if (const auto before = read_record(wish.folder); before || before.error().kind != ErrorKind::NotFound)
        return fail(ErrorKind::Conflict,
                    fmt::format("there is a playground in {} already\n'rhizome playground status' shows it, 'down' "
                                "takes it away; --dir names another directory",
                                printable(wish.folder.native())));
    Playground made{wish.folder, wish.program, wish.ends_with_us, Record{.apart = wish.apart}};
    made.record_.nodes.resize(wish.nodes);
    TRY(made.save());
    if (auto risen = made.bring_up(wish); !risen) {
        Error why = std::move(risen).error();
        if (auto swept = sweep(wish.folder); !swept) why.message += "\n" + swept.error().message;
        return Fail{std::move(why)};
    }
    return made;
}

Result<void> Playground::lay_networks() {
    TRY(const auto router, runtime::make_network());
    TRY(runtime::forward_packets(router.get()));
    TRY(auto control, runtime::NetworkControl::open(router.get()));
    std::vector<Descriptor> networks;
    std::vector<int> kept{router.get()};
    record_.router = router.get();
    for (unsigned node = 1; node <= record_.count(); ++node) {
        TRY(auto network, runtime::make_network());
        const runtime::Ipv4 address = address_of(node);
        const runtime::Ipv4 gateway = address - 1;
        TRY(control.add_cable(interface_of(node), "eth0", network.get()));
        TRY(control.add_address(interface_of(node), gateway, 24));
        TRY(control.bring_up(interface_of(node)));
        TRY(auto there, runtime::NetworkControl::open(network.get()));
        TRY(there.add_address("eth0", address, 24));
        TRY(there.bring_up("eth0"));
        TRY(there.add_default_route(gateway));
        record_.nodes[node - 1].address = runtime::ipv4_text(address) + ":7700";
        record_.nodes[node - 1].network = network.get();
        kept.push_back(network.get());
        networks.push_back(std::move(network));
    }
    TRY(auto holder, runtime::hold_process({.program = program_.native(),
                                            .arguments = {"playground", "hold"},
                                            .environment = environment_of_nodes(),
                                            .kept = kept,
                                            .ends_with_starter = ends_with_us_}));
    record_.holder = holder.id();
    TRY(save());
    return holder.begin();
}

Result<void> Playground::choose_ports() {
    // Held until all are chosen and then given back: whoever takes one in between is told by the node that misses it.
    std::vector<Descriptor> held;
    for (NodeRecord& node : record_.nodes) {
        Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in at{};
        if (!socket || !bind_to_free_port(socket, at)) return Fail{runtime::os_error("find a free port", errno)};
        node.address = fmt::format("127.0.0.1:{}", ntohs(at.sin_port));
        held.push_back(std::move(socket));
    }
    return save();
}

Result<void> Playground::begin_node(unsigned node, std::vector<std::string> words) {
    NodeRecord& record = record_.nodes[node - 1];
    const std::string data = data_of(node).native();
    TRY(runtime::make_folder(data, 0700));
    // A file of its own keeps the machine's settings (/etc/rhizome) away from it.
    if (!fs::exists(fs::path{data} / "config.yaml")) {
        TRY(runtime::write_new_file(fs::path{data} / "config.yaml",
                                    "# settings of this node of the playground: 'rhizome config schema' shows them\n",
                                    0600));
    }
    const std::string shared_keys = keys().native();
    TRY(const Descriptor api, listen_for(record.api));
    for (const char* each : {"--data", data.c_str(), "--keys", shared_keys.c_str(), "--listen", record.address.c_str(),
                             "--rpc-listen", "none", "--no-lan-discovery"})
        words.emplace_back(each);
    words.insert(words.end(), {"--api-listen", fmt::format("fd:{}", api.get()), "--log-file", data + "/node/log"});
    for (unsigned other = 1; other <= record_.count(); ++other)
        if (other != node) words.insert(words.end(), {"--peer", record_.nodes[other - 1].address});
    Descriptor network;
    if (record_.apart == Apart::Networks) {
        TRY(network, runtime::open_held_network(record_.holder.pid, record.network));
    }
    TRY(auto held, runtime::hold_process({.program = program_.native(),
                                          .arguments = std::move(words),
                                          .environment = environment_of_nodes(),
                                          .output = data + ".stderr",
                                          .network = network ? network.get() : -1,
                                          .kept = {api.get()},
                                          .ends_with_starter = ends_with_us_}));
    record.process = held.id();
    record.wanted = Wanted::Up;
    TRY(save());
    return held.begin();
}

Result<void> Playground::wait_for(const std::set<unsigned>& nodes, const std::function<bool()>& stop_asked,
                                  const std::function<bool(const json::Value& status)>& holds) {
    const auto give_up = runtime::instant_now() + kReadyMax;
    std::set<unsigned> left = nodes;
    while (!left.empty()) {
        for (const unsigned node : nodes) {
            if (!left.contains(node)) continue;
            if (!is_up(node))
                return fail(ErrorKind::Failed, fmt::format("n{} did not start: {}", node, last_words(node)));
            const auto asked = node::RpcClient::connect(data_of(node));
            const auto status = asked ? (*asked)->ask("GET", "/rhizome/v1/status", {}, kAnswerMax)
                                      : Result<node::RpcClient::Reply>{Fail{asked.error()}};
            if (status && status->is_good() && holds(status->body)) {
                record_.nodes[node - 1].key = std::string{status->body.text_at({"key"})};
                left.erase(node);
            }
        }
        if (stop_asked && stop_asked()) return fail(ErrorKind::Unavailable, "interrupted; nothing is left of it");
        if (runtime::instant_now() > give_up)
            return fail(ErrorKind::Unavailable,
                        fmt::format("{} did not become ready within {}\nis the machine very busy?", node_names(left),
                                    to_text(microseconds{kReadyMax})));
        if (!left.empty()) (void)::poll(nullptr, 0, kLookMillis);
    }
    return ok();
}

Result<std::string> Playground::new_token() {
    TRY(const auto end,
        runtime::run_process({.program = program_.native(),
                              .arguments = {"token", "new", "--data", data_of(1).native(), "--keys", keys().native(),
                                            "--expires", std::string{kTokenLasts}, "-o", "json"},
                              .environment = environment_of_nodes()}));
    const auto answer = json::parse(end.out);
    if (!end.succeeded() || !answer)
        return fail(ErrorKind::Failed, fmt::format("the first node makes no token for the others: {}", end.err));
    return std::string{answer->text_at({"token"})};
}

Result<void> Playground::bring_up(const Wish& wish) {
    const auto tell = [&](const std::string& line) {
        if (wish.told) wish.told(line);
    };
    if (wish.apart == Apart::Networks) {
        TRY(lay_networks());
    } else {
        TRY(choose_ports());
    }
    std::vector<std::string> words{"up", "playground", "--node", "n1"};
    words.insert(words.end(), wish.more.begin(), wish.more.end());
    TRY(begin_node(1, std::move(words)));
    TRY(wait_for({1}, wish.stop_asked, [](const json::Value&) { return true; }));
    tell("n1 has founded a cluster");
    std::set<unsigned> all{1};
    for (unsigned node = 2; node <= record_.count(); ++node) {
        TRY(const auto token, new_token());
        TRY(begin_node(node, {"join", record_.nodes[0].address, "--token", token, "--node", interface_of(node)}));
        all.insert(node);
    }
    if (all.size() > 1) tell(fmt::format("n2 to n{} join it", record_.count()));
    // A node that joins starts anew once it is a member: only the one that stays knows all voters.
    TRY(wait_for(all, wish.stop_asked, [&](const json::Value& status) {
        const json::Value* voters = status.find("voters");
        return voters != nullptr && voters->if_int64() == record_.count();
    }));
    record_.ready = true;
    return save();
}

Result<void> Playground::start(unsigned node) {
    TRY(const auto lock, lock_folder(folder_));
    TRY(record_, read_record(folder_));
    TRY(check_node(node));
    if (is_up(node))
        return fail(ErrorKind::Conflict, fmt::format("n{0} runs already\n'rhizome playground kill {0}' ends it", node));
    TRY(begin_node(node, {"up"}));
    TRY(wait_for({node}, {}, [](const json::Value&) { return true; }));
    return record_.apart == Apart::Ports ? apply_cuts() : ok();
}

// ---- what is done to it -------------------------------------------------------------------------------------------

Result<void> Playground::kill(unsigned node) {
    TRY(const auto lock, lock_folder(folder_));
    TRY(record_, read_record(folder_));
    TRY(check_node(node));
    NodeRecord& record = record_.nodes[node - 1];
    if (!is_up(node))
        return fail(ErrorKind::Conflict,
                    fmt::format("n{0} does not run\n'rhizome playground start {0}' starts it again", node));
    record.wanted = Wanted::Killed;
    TRY(save());
    TRY(runtime::send_signal(record.process, SIGKILL));
    if (!runtime::wait_for_end(record.process, kEndMax))
        return fail(ErrorKind::Unavailable,
                    fmt::format("n{} (process {}) was killed and is still there", node, record.process.pid));
    return ok();
}

Result<void> Playground::signal(unsigned node, int number) const {
    TRY(check_node(node));
    return runtime::send_signal(record_.nodes[node - 1].process, number);
}

Result<void> Playground::cut(const std::vector<std::string>& texts) {
    TRY(const auto lock, lock_folder(folder_));
    TRY(record_, read_record(folder_));
    for (const std::string& text : texts) {
        TRY(Cut one, parse_cut(text, record_.count()));
        if (one.one_way && record_.apart == Apart::Ports)
            return fail(ErrorKind::Unsupported, fmt::format("{} is one way, which needs nodes in networks of their "
                                                            "own\nas root 'playground up' makes them; 'cut {}' cuts "
                                                            "both ways",
                                                            text, text.substr(0, text.find('>'))));
        const auto same = [&](const Cut& other) { return other.text == one.text; };
        if (std::none_of(record_.cuts.begin(), record_.cuts.end(), same)) record_.cuts.push_back(std::move(one));
    }
    TRY(save());
    return apply_cuts();
}

Result<void> Playground::heal(const std::vector<std::string>& texts) {
    TRY(const auto lock, lock_folder(folder_));
    TRY(record_, read_record(folder_));
    for (const std::string& text : texts) {
        TRY(const Cut one, parse_cut(text, record_.count()));
        if (std::erase_if(record_.cuts, [&](const Cut& other) { return other.text == one.text; }) == 0)
            return fail(ErrorKind::NotFound, fmt::format("the cut {} does not stand\n'rhizome playground status' shows "
                                                         "those that do; 'heal' alone ends them all",
                                                         one.text));
    }
    if (texts.empty()) record_.cuts.clear();
    TRY(save());
    return apply_cuts();
}

/// Makes what holds be what the record says, whatever held before: a command that was killed half way is made good.
Result<void> Playground::apply_cuts() {
    const std::set<Way> broken = broken_ways(record_.cuts);
    if (record_.apart == Apart::Networks) {
        if (!runtime::is_running(record_.holder))
            return fail(ErrorKind::Unavailable,
                        "the process that keeps the playground's networks is gone\n'rhizome "
                        "playground down' and 'up' make new ones");
        TRY(const auto router, runtime::open_held_network(record_.holder.pid, record_.router));
        TRY(auto control, runtime::NetworkControl::open(router.get()));
        for (unsigned from = 1; from <= record_.count(); ++from)
            for (unsigned to = 1; to <= record_.count(); ++to) {
                if (from == to) continue;
                const bool lost = broken.contains({from, to});
                auto done = lost ? control.lose_packets(interface_of(from), address_of(to))
                                 : control.pass_packets(interface_of(from), address_of(to));
                const ErrorKind already = lost ? ErrorKind::Conflict : ErrorKind::NotFound;
                if (!done && done.error().kind != already) return done;
            }
        return ok();
    }
    for (const unsigned node : nodes_up()) {
        json::Array keys;
        for (unsigned other = 1; other <= record_.count(); ++other)
            if (broken.contains({node, other})) keys.emplace_back(record_.nodes[other - 1].key);
        TRY(const auto asked, client(node));
        TRY(const auto answer,
            asked->post("/rhizome/v1/peers/refused", json::print(json::Object{{"keys", std::move(keys)}})));
    }
    return ok();
}

// ---- the end ------------------------------------------------------------------------------------------------------

Result<unsigned> Playground::down(const fs::path& folder) {
    if (!fs::exists(folder)) return no_playground(folder);
    TRY(const auto lock, lock_folder(folder));
    return sweep(folder);
}

Result<unsigned> Playground::sweep(const fs::path& folder) {
    auto record = read_record(folder);
    if (!record && record.error().kind == ErrorKind::NotFound) return no_playground(folder);
    if (!record) return Fail{std::move(record).error()};
    std::vector<runtime::ProcessId> processes;
    for (const NodeRecord& node : record->nodes) processes.push_back(node.process);
    processes.push_back(record->holder);
    std::erase_if(processes, [](const runtime::ProcessId& one) { return !runtime::is_running(one); });
    // In order, then by force: nothing is worth keeping, but a paused process takes no SIGTERM, so it is woken.
    for (const int number : {SIGTERM, SIGCONT})
        for (const auto& one : processes) (void)runtime::send_signal(one, number);
    const auto give_up = runtime::instant_now() + kEndMax;
    for (const auto& one : processes) {
        const auto left = std::chrono::ceil<milliseconds>(give_up - runtime::instant_now());
        if (runtime::wait_for_end(one, std::max(left, milliseconds{0}))) continue;
        (void)runtime::send_signal(one, SIGKILL);
        if (!runtime::wait_for_end(one, kEndMax))
            return fail(ErrorKind::Unavailable,
                        fmt::format("process {} was killed and is still there; nothing was deleted", one.pid));
    }
    // Only what a playground makes; the record last, so that a 'down' that is ended half way can be said again.
    std::error_code failed;
    for (unsigned node = 1; node <= record->count(); ++node) {
        const fs::path data = folder / interface_of(node);
        for (const fs::path& one : {data, fs::path{data} += ".stderr"})
            if (!failed) fs::remove_all(one, failed);
    }
    if (!failed) fs::remove_all(folder / "keys", failed);
    for (const char* name : {"lock", "playground.json"})
        if (!failed) fs::remove(folder / name, failed);
    if (failed)
        return fail(ErrorKind::Failed,
                    fmt::format("{} cannot be deleted: {}", printable(folder.native()), failed.message()));
    fs::remove(folder, failed);  // unless somebody keeps something of their own there
    return static_cast<unsigned>(processes.size());
}

}  // namespace rhizome::cli::playground
