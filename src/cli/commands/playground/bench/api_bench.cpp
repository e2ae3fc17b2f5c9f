// SPDX-License-Identifier: Apache-2.0
// Any Kubernetes API under load: creates, reads, lists, a watch that fans out, what a server's processes spend on them.
// `./run bench api` starts a durable node of its own and three more; RHIZOME_BENCH_API_URL names another server:
//
//   RHIZOME_BENCH_API_URL=https://host:6443   with _TOKEN, or _CERT and _KEY (files), and _CA (a file)
//   RHIZOME_BENCH_API_PIDS=12,34              its processes on this machine, for processor time and memory
//
// Clients and server share the machine's cores, so the clients are as lean as can be (tests/support/kube_client.h).
// Every client has a connection of its own and one question under way. Objects are ConfigMaps with 200 bytes of data.
// `included` is what creates wait for, the default: the object is in a block that survives a power failure.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "api/users.h"
#include "base/ensure.h"
#include "cli/commands/playground/bench/etcd.h"
#include "cli/commands/playground/playground.h"
#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "runtime/files.h"
#include "support/bench.h"
#include "support/kube_client.h"
#include "support/temp_folder.h"

namespace rhizome::bench {
namespace {

namespace fs = std::filesystem;
using cli::playground::Playground;
using stream::Task;
using test::KubeAccess;
using test::KubeConnection;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kListed = 5'000;
constexpr std::size_t kObjectsMost = 25'000;
constexpr unsigned kWatchers = 50;
constexpr seconds kConnectMax{30};

double millis_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double percentile(std::vector<double> all, unsigned percent) {
    if (all.empty()) return 0;
    std::sort(all.begin(), all.end());
    return all[std::min(all.size() - 1, all.size() * percent / 100)];
}

std::string env(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string file_named_by(const char* name) {
    const std::string path = env(name);
    if (path.empty()) return {};
    auto text = runtime::read_file(path, 1u << 20);
    if (!text) fmt::print(stderr, "{}: {}\n", name, text.error().message);
    ensure(text.has_value(), "a file that is named can be read");
    return *std::move(text);
}

// ---- servers ------------------------------------------------------------------------------------------------------

/// One API or several of one cluster, which clients are spread over, and the processes behind it.
class Server {
public:
    virtual ~Server() = default;
    [[nodiscard]] const std::vector<KubeAccess>& access() const { return access_; }
    [[nodiscard]] double cpu_seconds() const {
        double all = 0;
        for (const auto& one : processes_) all += cpu_seconds_of(one);
        return all;
    }
    /// Megabytes that its processes hold, the largest of them.
    [[nodiscard]] double resident_megabytes() const {
        double most = 0;
        for (const auto& one : processes_) {
            const auto text = runtime::read_file(fmt::format("/proc/{}/status", one.pid), 64u << 10);
            const std::size_t at = text ? text->find("VmRSS:") : std::string::npos;
            if (at != std::string::npos) most = std::max(most, std::strtod(text->c_str() + at + 6, nullptr) / 1'024);
        }
        return most;
    }
    std::size_t objects = 0;  ///< made so far

protected:
    std::vector<KubeAccess> access_{};
    std::vector<runtime::ProcessId> processes_{};
};

class Named final : public Server {
public:
    Named() {
        auto made = KubeAccess::make({.url = env("RHIZOME_BENCH_API_URL"),
                                      .authority_pem = file_named_by("RHIZOME_BENCH_API_CA"),
                                      .certificate_pem = file_named_by("RHIZOME_BENCH_API_CERT"),
                                      .key_pem = file_named_by("RHIZOME_BENCH_API_KEY"),
                                      .token = env("RHIZOME_BENCH_API_TOKEN")});
        if (!made) fmt::print(stderr, "RHIZOME_BENCH_API_URL: {}\n", made.error().message);
        ensure(made.has_value(), "the server that is named can be asked");
        access_.push_back(*std::move(made));
        std::string pids = env("RHIZOME_BENCH_API_PIDS");
        for (char* at = pids.data(); *at != '\0';) {
            char* end = nullptr;
            const auto pid = std::strtol(at, &end, 10);
            if (const auto found = runtime::find_process(static_cast<pid_t>(pid))) processes_.push_back(*found);
            at = *end == '\0' ? end : end + 1;
        }
    }
};

/// Nodes of our own, on the disk that is built on, asked with a certificate as `rhizome kubeconfig` makes them.
class Own final : public Server {
public:
    explicit Own(unsigned nodes) : on_(raise(temp_.path() / "nodes", nodes)) {
        for (unsigned node = 1; node <= nodes; ++node) {
            const auto authority = node::open_authority(on_.data_of(node), runtime::now());
            ensure(authority.has_value(), "a node has an authority");
            const auto identity = node::client_identity(
                *authority, {.user = "admin", .groups = {std::string{api::kMasters}}}, runtime::now());
            ensure(identity.has_value(), "an authority signs");
            auto made = KubeAccess::make({.url = "https://" + on_.record().nodes[node - 1].api,
                                          .authority_pem = authority->chain.front().to_pem(),
                                          .certificate_pem = identity->chain.front().to_pem(),
                                          .key_pem = std::string{as_text(identity->key.to_pem().view())}});
            ensure(made.has_value(), "a node can be asked");
            access_.push_back(*std::move(made));
            processes_.push_back(on_.record().nodes[node - 1].process);
        }
    }
    ~Own() override { (void)Playground::down(temp_.path() / "nodes"); }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;

private:
    static Playground raise(const fs::path& folder, unsigned nodes) {
        const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "rhizome";
        auto up = Playground::up({.folder = folder, .nodes = nodes, .program = program, .ends_with_us = true});
        if (!up) fmt::print(stderr, "{}\n", up.error().message);
        ensure(up.has_value(), "nodes start: ./run build makes the program they are");
        return *std::move(up);
    }
    test::TempFolder temp_{fs::current_path()};
    Playground on_;
};

bool is_named() { return !env("RHIZOME_BENCH_API_URL").empty(); }

Server& one_server() {
    static const std::unique_ptr<Server> made =
        is_named() ? std::unique_ptr<Server>{std::make_unique<Named>()} : std::make_unique<Own>(1);
    return *made;
}

// ---- loads --------------------------------------------------------------------------------------------------------

struct Load {
    double per_second = 0;
    double p50 = 0;  ///< ms
    double p99 = 0;
    double cpu_each = 0;  ///< ms of the server's processes
};

std::string unique(std::string_view what) {
    static std::atomic<unsigned> next = 0;
    return fmt::format("bench-{}-{}-{}", what, ::getpid(), next.fetch_add(1));
}

std::string config_map(std::string_view name) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","labels":{{"app":"bench"}}}},"data":{{"a":"{}","b":"{}"}}}})",
        name, std::string(100, 'x'), std::string(100, 'y'));
}

std::string maps_of(std::string_view name_space) { return fmt::format("/api/v1/namespaces/{}/configmaps", name_space); }

/// Says what went wrong, since a figure would not.
void expect(const Result<test::KubeReply>& reply, unsigned status) {
    if (!reply) fmt::print(stderr, "{}\n", reply.error().message);
    ensure(reply.has_value(), "the server answers");
    if (reply->status != status) fmt::print(stderr, "{} instead of {}: {}\n", reply->status, status, reply->body);
    ensure(reply->status == status, "the server does what it is asked for");
}

std::string new_namespace(const Server& server, std::string_view what) {
    std::string name = unique(what);
    expect(test::ask_kube(server.access().front(), "POST", "/api/v1/namespaces",
                          fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", name)),
           201);
    // The others of a cluster have it a moment later.
    for (const KubeAccess& access : server.access())
        for (;;) {
            const auto reply = test::ask_kube(access, "GET", "/api/v1/namespaces/" + name);
            if (reply && reply->status == 200) break;
        }
    return name;
}

/// What client `number` asks for in its `turn`.
using Question = std::function<std::string(const KubeConnection&, unsigned number, std::size_t turn)>;

struct Client {
    Client(const KubeAccess& access_in, unsigned number_in) : access(access_in), number(number_in) {}
    KubeAccess access;
    unsigned number;
    std::unique_ptr<KubeConnection> connection{};
    std::vector<double> took{};
};

Task<void> connect(Client* client) {
    auto made = co_await KubeConnection::open(client->access, stream::after(kConnectMax));
    if (!made) fmt::print(stderr, "{}\n", made.error().message);
    ensure(made.has_value(), "a client connects");
    client->connection = *std::move(made);
}

Task<void> ask_on(Client* client, const Question* question, std::size_t turns, unsigned status, milliseconds pause) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
        if (pause.count() > 0) co_await stream::sleep_for(pause);
        const auto sent = Clock::now();
        auto reply = co_await client->connection->ask((*question)(*client->connection, client->number, turn));
        expect(reply, status);
        client->took.push_back(millis_since(sent));
    }
}

/// Runs a task for every one of many, all at once, on one thread.
template <class Make>
void all_at_once(stream::IoContext& io, std::size_t count, const Make& make) {
    std::size_t left = count;
    for (std::size_t i = 0; i < count; ++i) stream::spawn(io.make_strand(), make(i), [&] { --left; });
    io.run_until([&] { return left == 0; });
}

Load run_load(const Server& server, unsigned clients, std::size_t each, const Question& question, unsigned status,
              milliseconds pause = milliseconds{0}) {
    stream::IoContext io{{.threads = 0}};
    std::vector<std::unique_ptr<Client>> all;
    for (unsigned i = 0; i < clients; ++i)
        all.push_back(std::make_unique<Client>(server.access()[i % server.access().size()], i));
    all_at_once(io, clients, [&](std::size_t i) { return connect(all[i].get()); });
    const double cpu_before = server.cpu_seconds();
    const auto start = Clock::now();
    all_at_once(io, clients, [&](std::size_t i) { return ask_on(all[i].get(), &question, each, status, pause); });
    const double lasted = millis_since(start) / 1'000;
    std::vector<double> took;
    for (const auto& one : all) took.insert(took.end(), one->took.begin(), one->took.end());
    const auto count = static_cast<double>(took.size());
    return {.per_second = count / lasted,
            .p50 = percentile(took, 50),
            .p99 = percentile(took, 99),
            .cpu_each = (server.cpu_seconds() - cpu_before) * 1'000 / count};
}

void print_load(std::string_view what, unsigned clients, const Load& load) {
    fmt::print(stderr, "  {:>4} clients  {:18} {:>8.0f}/s   p50 {:>7.2f} ms   p99 {:>7.2f} ms   {:>7.3f} ms CPU each\n",
               clients, what, load.per_second, load.p50, load.p99, load.cpu_each);
}

Load creates(Server& server, std::string_view name_space, unsigned clients, std::size_t each,
             milliseconds pause = milliseconds{0}) {
    const std::string target = maps_of(name_space);
    const std::string run = unique("o");
    const Load load = run_load(
        server, clients, each,
        [&](const KubeConnection& on, unsigned number, std::size_t turn) {
            return on.request("POST", target, config_map(fmt::format("{}-{}-{}", run, number, turn)));
        },
        201, pause);
    server.objects += clients * each;
    return load;
}

/// Measured once for all figures that read it.
const Load& creates_of(unsigned clients) {
    static std::map<unsigned, Load> made;
    if (const auto at = made.find(clients); at != made.end()) return at->second;
    Server& server = one_server();
    const std::string name_space = new_namespace(server, "create");
    (void)creates(server, name_space, clients, 16);  // connections, caches and the processor's clock are warm
    const Load load = creates(server, name_space, clients, clients == 16 ? 250 : 125);
    print_load("creates", clients, load);
    return made.emplace(clients, load).first->second;
}

/// How long one create takes. Back to back a single client would measure the pace of blocks instead: a chain has one
/// every 2 ms at most (`minInterval`), and the next create would always wait for the next of them.
const Load& unhurried_creates() {
    static const Load made = [] {
        Server& server = one_server();
        const std::string name_space = new_namespace(server, "pause");
        print_load("creates in a row", 1, creates(server, name_space, 1, 400));
        const Load load = creates(server, name_space, 1, 400, milliseconds{3});
        print_load("creates, unhurried", 1, load);
        return load;
    }();
    return made;
}

/// A namespace with as many objects as are listed.
const std::string& filled_namespace() {
    static const std::string made = [] {
        Server& server = one_server();
        std::string name = new_namespace(server, "list");
        (void)creates(server, name, 40, kListed / 40);
        return name;
    }();
    return made;
}

const Load& gets() {
    static const Load made = [] {
        Server& server = one_server();
        const std::string& name_space = filled_namespace();
        const auto list = test::ask_kube(server.access().front(), "GET", maps_of(name_space) + "?limit=64");
        expect(list, 200);
        std::vector<std::string> targets;
        const json::Value page = list->value();
        for (const json::Value& one : *page.find("items")->if_array())
            targets.push_back(fmt::format("{}/{}", maps_of(name_space), one.text_at({"metadata", "name"})));
        const Question question = [&](const KubeConnection& on, unsigned number, std::size_t turn) {
            return on.request("GET", targets[(number * 7 + turn) % targets.size()]);
        };
        (void)run_load(server, 16, 200, question, 200);
        const Load load = run_load(server, 16, 2'500, question, 200);
        print_load("gets", 16, load);
        return load;
    }();
    return made;
}

const Load& lists() {
    static const Load made = [] {
        Server& server = one_server();
        const std::string& name_space = filled_namespace();
        const Question question = [&](const KubeConnection& on, unsigned, std::size_t) {
            return on.request("GET", maps_of(name_space));
        };
        (void)run_load(server, 1, 5, question, 200);
        const Load load = run_load(server, 1, 150, question, 200);
        print_load("lists of 5,000", 1, load);
        return load;
    }();
    return made;
}

// ---- a watch that fans out ----------------------------------------------------------------------------------------

struct FanOut {
    std::map<std::string, Clock::time_point> sent{};
    std::vector<double> took{};
    unsigned watching = 0;
};

Task<void> watch_on(Client* client, FanOut* out, const std::string* target, std::size_t events) {
    auto head = co_await client->connection->begin(client->connection->request("GET", *target));
    expect(head, 200);
    ++out->watching;
    for (std::size_t seen = 0; seen < events;) {
        auto line = co_await client->connection->next_line();
        ensure(line.has_value() && !line->empty(), "a watch goes on");
        const auto now = Clock::now();
        const std::size_t at = line->find(R"("name":"w)");
        if (at == std::string::npos) continue;  // a bookmark
        const std::string name = line->substr(at + 8, line->find('"', at + 8) - at - 8);
        out->took.push_back(std::chrono::duration<double, std::milli>(now - out->sent.at(name)).count());
        ++seen;
    }
}

Task<void> write_on(Client* client, FanOut* out, const std::string* target, std::size_t events) {
    while (out->watching < kWatchers) co_await stream::sleep_for(milliseconds{1});
    for (std::size_t i = 0; i < events; ++i) {
        const std::string name = fmt::format("w{}", i);
        out->sent[name] = Clock::now();
        auto reply = co_await client->connection->ask(client->connection->request("POST", *target, config_map(name)));
        expect(reply, 201);
        // One after the other: what is measured is one change, not a queue of them.
        while (out->took.size() < (i + 1) * kWatchers) co_await stream::sleep_for(milliseconds{1});
    }
}

double fan_out_millis() {
    constexpr std::size_t kEvents = 100;
    Server& server = one_server();
    const std::string target = maps_of(new_namespace(server, "watch"));
    const std::string watch = target + "?watch=true";
    stream::IoContext io{{.threads = 0}};
    std::vector<std::unique_ptr<Client>> all;
    for (unsigned i = 0; i <= kWatchers; ++i) all.push_back(std::make_unique<Client>(server.access().front(), i));
    all_at_once(io, all.size(), [&](std::size_t i) { return connect(all[i].get()); });
    FanOut out;
    all_at_once(io, all.size(), [&](std::size_t i) {
        return i < kWatchers ? watch_on(all[i].get(), &out, &watch, kEvents)
                             : write_on(all[i].get(), &out, &target, kEvents);
    });
    server.objects += kEvents;
    fmt::print(stderr, "  {:>4} watchers {:18} {:>10}   p50 {:>7.2f} ms   p99 {:>7.2f} ms\n", kWatchers, "one change",
               "", percentile(out.took, 50), percentile(out.took, 99));
    return percentile(out.took, 50);
}

double resident_with_most() {
    Server& server = one_server();
    const std::string name_space = new_namespace(server, "many");
    if (server.objects < kObjectsMost) (void)creates(server, name_space, 50, (kObjectsMost - server.objects + 49) / 50);
    return server.resident_megabytes();
}

double three_nodes_creates() {
    // A cluster that is named is measured as it is.
    if (is_named()) return creates_of(64).per_second;
    Own three{3};
    const std::string name_space = new_namespace(three, "three");
    (void)creates(three, name_space, 64, 10);
    const Load load = creates(three, name_space, 64, 80);
    print_load("creates, 3 nodes", 64, load);
    return load.per_second;
}

double one_client_p50() { return unhurried_creates().p50; }
double creates_by_16() { return creates_of(16).per_second; }
double creates_by_64() { return creates_of(64).per_second; }
double create_micros() { return creates_of(64).cpu_each * 1'000; }
double gets_by_16() { return gets().per_second; }
double get_micros() { return gets().cpu_each * 1'000; }
double list_p50() { return lists().p50; }
double list_cpu() { return lists().cpu_each; }

struct Aim {
    const char* name;
    const char* unit;
    double (*measure)();
    double required;
    bool at_most;
};
constexpr Aim kAims[] = {
    {"api.create_1_client_p50", "ms", &one_client_p50, 2, true},
    {"api.create_16_clients", "creates/s", &creates_by_16, 2'000, false},
    {"api.create_64_clients", "creates/s", &creates_by_64, 3'000, false},
    {"api.create_cpu", "µs", &create_micros, 400, true},
    {"api.get_16_clients", "gets/s", &gets_by_16, 11'000, false},
    {"api.get_cpu", "µs", &get_micros, 60, true},
    {"api.list_5000_p50", "ms", &list_p50, 15, true},
    {"api.list_5000_cpu", "ms", &list_cpu, 12, true},
    {"api.watch_fan_out_50_p50", "ms", &fan_out_millis, 3.5, true},
    {"api.with_25000_objects_rss", "MB", &resident_with_most, 100, true},
    {"api.with_three_nodes_create_64", "creates/s", &three_nodes_creates, 1'500, false},
};
const bool figures = std::all_of(std::begin(kAims), std::end(kAims), [](const Aim& aim) {
    return add_figure(
        {.name = aim.name, .unit = aim.unit, .measure = aim.measure, .required = aim.required, .at_most = aim.at_most});
});

}  // namespace
}  // namespace rhizome::bench
