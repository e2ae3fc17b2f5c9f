// SPDX-License-Identifier: Apache-2.0
#include "node/light_node.h"

#include <sys/stat.h>

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "http/router.h"
#include "http/server.h"
#include "ledger/special_kinds.h"
#include "node/resources.h"
#include "node/rpc/state_answers.h"
#include "runtime/clock.h"
#include "runtime/files.h"

namespace rhizome::node {
namespace {

using follow::LightChain;
using follow::LightRefusal;
using stream::Task;

/// Where it got to is written down so often, and at every change of voters.
constexpr seconds kSaveEvery{10};
constexpr milliseconds kGrace{1'000};

/// What it shows of itself at one moment; immutable, for the threads that answer.
struct LightView {
    std::optional<ledger::ChainId> chain{};  ///< nothing before it began
    ledger::Header header{};
    ledger::BlockHash hash{};
    ledger::Header state_header{};  ///< of the block whose state it shows
    bool has_state = false;
    std::size_t voters = 0;
    std::size_t next_voters = 0;
    std::size_t quorum = 0;
    std::uint64_t generation = 0;
    bool trusts_first_peer = false;
    state::StateView state{};
    std::array<std::uint64_t, follow::kLightFaults> refusals{};
    std::string last_refusal{};
    std::string trouble{};  ///< why nobody could be asked; empty while all is well
};

/// A mistake of whoever was asked, or nobody to ask.
struct Setback {
    std::optional<LightRefusal> refused{};
    std::string trouble{};
};
Fail<Setback> refused(LightRefusal why) { return {Setback{.refused = std::move(why)}}; }
Fail<Setback> in_trouble(const Error& error) { return {Setback{.trouble = error.message}}; }
Fail<Setback> malformed(std::string why) {
    return refused({.fault = follow::LightFault::Malformed, .why = std::move(why)});
}

Result<json::Value, Setback> ask(RpcClient& client, const std::string& target, std::size_t bytes_max) {
    auto text = client.text("GET", target, "", bytes_max);
    if (!text) return in_trouble(text.error());
    auto body = json::parse(*text, {.bytes = bytes_max});
    if (!body) return malformed("the answer is no JSON");
    return *std::move(body);
}

Result<Bytes, Setback> bytes_of(const json::Value& value) {
    const std::string* digits = value.if_string();
    auto bytes = digits == nullptr ? std::nullopt : from_hex(*digits);
    if (!bytes) return malformed("a proof is no hexadecimal");
    return *std::move(bytes);
}

/// Twice the bytes in hexadecimal, and the frame.
constexpr std::size_t kLinksAnswerMax = 2 * 16 * follow::kFinalityBytesMax;
constexpr std::size_t kSubtreeAnswerMax = 2 * follow::kSubtreeBytesMax + 1'024;

Result<std::vector<follow::FinalityProof>, Setback> ask_links(RpcClient& client, const std::string& query) {
    TRY(const auto body, ask(client, "/rhizome/v1/finality?" + query, kLinksAnswerMax));
    const json::Value* links = body.find("links");
    if (links == nullptr || !links->is_array() || links->if_array()->empty()) return malformed("there are no links");
    std::vector<follow::FinalityProof> proofs;
    for (const json::Value& one : *links->if_array()) {
        TRY(const auto bytes, bytes_of(one));
        auto proof = follow::decode_finality_proof(bytes);
        if (!proof) return malformed("a finality proof cannot be read: " + to_error(proof.error()).message);
        proofs.push_back(*std::move(proof));
    }
    return proofs;
}

}  // namespace

struct LightNode::Inside {
    explicit Inside(LightOptions given) : options(std::move(given)), log(options.log) {}

    const LightOptions options;
    const Log log;
    const Time started = runtime::now();
    std::map<std::string, state::Prefix> follows{};
    std::set<state::Path> above{};  ///< of those, what is not followed itself: whose locks decide
    consensus::CurveSignatures curves{};
    consensus::RememberedSignatures signatures{curves};

    // Of the thread that asks.
    std::optional<LightChain> chain{};
    std::optional<follow::FinalityProof> newest{};
    std::unique_ptr<RpcClient> client{};
    Time saved{};
    LightView now{};

    mutable std::mutex mutex{};
    std::condition_variable changed{};
    std::shared_ptr<const LightView> view = std::make_shared<LightView>();
    bool stopping = false;
    bool should_end = false;

    stream::IoContext io{{.threads = 1}};
    std::unique_ptr<http::Server> server{};
    std::thread thread{};

    [[nodiscard]] std::filesystem::path kept_file() const { return options.data / "light" / "final"; }
    [[nodiscard]] std::shared_ptr<const LightView> shown() const {
        const std::lock_guard hold{mutex};
        return view;
    }

    // ---- asking ----------------------------------------------------------------------------------------------------

    /// One byte that says whether a person vouched for where it began, and the proof of the newest final block.
    void save() {
        if (!chain || !newest) return;
        std::string bytes(1, chain->trusts_first_peer() || now.trusts_first_peer ? '\1' : '\0');
        bytes += as_text(follow::encode(*newest));
        if (const auto written = runtime::replace_file(kept_file(), bytes, 0600); !written)
            log.warn("where the light node got to cannot be kept", {{"why", written.error()}});
        saved = runtime::now();
    }

    /// What an earlier run knew; nothing when there is none, or a person vouches for something else now.
    void restore() {
        if (options.vouched) return;
        const auto bytes = runtime::read_file(kept_file(), follow::kFinalityBytesMax + 1);
        if (!bytes || bytes->empty()) return;
        auto proof = follow::decode_finality_proof(as_bytes(*bytes).subspan(1));
        if (!proof) return;
        auto began = LightChain::begin(proof->chain, *proof, hash_of(proof->header), signatures);
        if (!began) return;
        now.trusts_first_peer = bytes->front() == '\1';
        chain = *std::move(began);
        newest = *std::move(proof);
    }

    Result<void, Setback> begin() {
        const std::string where =
            options.vouched ? fmt::format("at={}", options.vouched->height) : std::string{"after=0"};
        TRY(auto links, ask_links(*client, where));
        const auto vouched = options.vouched ? std::optional{options.vouched->hash} : std::nullopt;
        auto began = LightChain::begin(links.back().chain, links.back(), vouched, signatures);
        if (!began) return refused(std::move(began).error());
        now.trusts_first_peer = began->trusts_first_peer();
        if (now.trusts_first_peer)
            log.warn("nobody vouched for a block: the first node asked is believed to be on the right chain",
                     {{"chain", began->chain()}, {"height", began->header().height}, {"block", began->hash()}});
        chain = *std::move(began);
        newest = std::move(links.back());
        save();
        return {};
    }

    Result<void, Setback> advance() {
        TRY(auto links, ask_links(*client, fmt::format("after={}", chain->header().height)));
        for (follow::FinalityProof& link : links) {
            // The first ones may lead over changes of voters that are known already.
            if (&link != &links.back() && link.header.height <= chain->header().height) continue;
            const auto voters = chain->electorate();
            const auto taken = chain->take(link);
            if (!taken) return refused(taken.error());
            if (!*taken) continue;
            newest = std::move(link);
            if (chain->electorate() != voters || runtime::now() >= saved + kSaveEvery) save();
        }
        return {};
    }

    Result<void, Setback> fetch() {
        const auto height = chain->header().height;
        if (now.has_state && now.state_header.height == height) return {};
        for (const auto& [text, prefix] : follows) {
            const auto before = chain->shown_at(prefix);
            if (before == height) continue;
            TRY(const auto body,
                ask(*client,
                    fmt::format("/rhizome/v1/state/subtree?prefix={}&at={}{}", http::percent_encode(text), height,
                                before ? fmt::format("&since={}", *before) : std::string{}),
                    kSubtreeAnswerMax));
            TRY(const auto bytes, bytes_of(body.find("proof") == nullptr ? json::Value{} : *body.find("proof")));
            auto proof = follow::decode_subtree_proof(bytes);
            if (!proof) return malformed("a sub-tree proof cannot be read: " + to_error(proof.error()).message);
            if (proof->prefix != prefix) return malformed("it is about another path than was asked for");
            auto taken = chain->take(*proof);
            if (!taken) return refused(std::move(taken).error());
        }
        for (const state::Path& path : above) {
            TRY(const auto body,
                ask(*client,
                    fmt::format("/rhizome/v1/state/proof?path={}&at={}", http::percent_encode(path.text()), height),
                    kSubtreeAnswerMax));
            auto proof = ledger::state_proof_from_json(json::print(body));
            if (!proof) return malformed("a state proof cannot be read: " + proof.error().message);
            if (proof->path != path) return malformed("it is about another path than was asked for");
            auto taken = chain->take(*proof);
            if (!taken) return refused(std::move(taken).error());
        }
        now.state_header = chain->header();
        now.has_state = true;
        now.state = chain->state();
        if (options.proven) options.proven(now.state_header, chain->chain(), now.state);
        return {};
    }

    Result<void, Setback> round() {
        if (!client) {
            auto connected = options.connect();
            if (!connected) return in_trouble(connected.error());
            client = *std::move(connected);
        }
        if (!chain) TRY(begin());
        TRY(advance());
        return fetch();
    }

    /// Each new trouble is said once, not at every round.
    void note(const Setback& setback) {
        if (setback.refused) {
            ++now.refusals[static_cast<std::size_t>(setback.refused->fault)];
            const std::string text = to_text(*setback.refused);
            if (text != now.last_refusal)
                log.error("what the node shows is refused", {{"fault", name(setback.refused->fault)}, {"why", text}});
            now.last_refusal = text;
            now.trouble = "refused what it was shown: " + text;
        } else {
            if (setback.trouble != now.trouble) log.warn("the node cannot be asked", {{"why", setback.trouble}});
            now.trouble = setback.trouble;
        }
        client.reset();
    }

    void publish() {
        if (chain) {
            now.chain = chain->chain();
            now.header = chain->header();
            now.hash = chain->hash();
            now.voters = chain->electorate().voters.size();
            now.next_voters = chain->electorate().next.size();
            now.quorum = consensus::quorum_of(now.voters, chain->trust());
            now.generation = chain->electorate().generation;
        }
        const std::lock_guard hold{mutex};
        view = std::make_shared<LightView>(now);
    }

    void run() {
        milliseconds pause = options.every;
        for (;;) {
            const auto gone = round();
            if (gone) {
                if (!now.trouble.empty())
                    log.info("the light node follows again", {{"height", chain->header().height}});
                now.trouble.clear();
                pause = options.every;
            } else {
                note(gone.error());
                pause = std::min(2 * pause, std::max(options.every, options.again_most));
            }
            publish();
            std::unique_lock hold{mutex};
            if (changed.wait_for(hold, pause, [&] { return stopping; })) break;
        }
        save();
    }

    // ---- answering -------------------------------------------------------------------------------------------------

    [[nodiscard]] json::Object status() const;
    [[nodiscard]] std::string metrics() const;
    [[nodiscard]] http::Response answer(std::string_view what, const rpc::Call& call);
    Result<void> listen();
};

json::Object LightNode::Inside::status() const {
    const auto at = shown();
    json::Array paths;
    for (const auto& [text, prefix] : follows) paths.emplace_back(text);
    json::Object refusals;
    for (std::size_t i = 0; i < at->refusals.size(); ++i)
        if (at->refusals[i] > 0) refusals.set(std::string{name(static_cast<follow::LightFault>(i))}, at->refusals[i]);
    json::Array warnings;
    if (!at->trouble.empty())
        warnings.push_back(
            json::Object{{"what", "the light node does not follow the chain at the moment: " + at->trouble},
                         {"hint", "ask another node: rhizome light --node ADDRESS"}});
    if (at->trusts_first_peer)
        warnings.push_back(
            json::Object{{"what", "nobody vouched for the block it began with: it believed the first node it asked"},
                         {"hint", "compare chainId with a machine you trust, or begin with --trust HEIGHT:HASH"}});
    const json::Object place{{"height", at->header.height.number()},
                             {"hash", at->hash.hex()},
                             {"time", to_rfc3339(at->header.time, Precision::Millis)}};
    const state::Entry* cluster = at->state.get(state::Path::cluster());
    return {
        {"role", "light"},
        {"cluster", cluster == nullptr ? "" : ledger::parse_checked(cluster->document()).text_at({"metadata", "name"})},
        {"chainId", at->chain ? at->chain->hex() : ""},
        {"member", false},
        {"height", at->header.height.number()},
        {"tip", at->hash.hex()},
        {"time", to_rfc3339(at->header.time, Precision::Millis)},
        {"final", place},
        {"stateHeight", at->has_state ? at->state_header.height.number() : 0},
        {"generation", at->generation},
        {"voters", at->voters},
        {"votersToCome", at->next_voters},
        {"quorum", at->quorum},
        {"documents", at->state.totals(state::Prefix::documents()).count},
        {"follows", std::move(paths)},
        {"refusals", std::move(refusals)},
        {"trustsFirstPeer", at->trusts_first_peer},
        {"warnings", std::move(warnings)},
        {"version", options.version},
        {"started", to_rfc3339(started)},
        {"now", to_rfc3339(runtime::now(), Precision::Millis)}};
}

std::string LightNode::Inside::metrics() const {
    const auto at = shown();
    std::string text = fmt::format(
        "# HELP rhizome_final_height Height of the newest final block.\n# TYPE rhizome_final_height gauge\n"
        "rhizome_final_height {}\n# HELP rhizome_light_documents Documents in the sub-trees that are followed.\n"
        "# TYPE rhizome_light_documents gauge\nrhizome_light_documents {}\n"
        "# HELP rhizome_light_refusals_total What was shown and does not prove, by fault.\n"
        "# TYPE rhizome_light_refusals_total counter\n",
        at->header.height, at->state.totals(state::Prefix::documents()).count);
    for (std::size_t i = 0; i < at->refusals.size(); ++i)
        text += fmt::format("rhizome_light_refusals_total{{fault=\"{}\"}} {}\n",
                            name(static_cast<follow::LightFault>(i)), at->refusals[i]);
    return text;
}

http::Response LightNode::Inside::answer(std::string_view what, const rpc::Call& call) {
    const auto at = shown();
    if (what == "stop") {
        const std::lock_guard hold{mutex};
        should_end = true;
        changed.notify_all();
        return rpc::json_response(json::Object{{"stopping", true}});
    }
    if (what == "status") return rpc::json_response(status());
    if (what == "metrics") return rpc::text_response(metrics());
    if (what == "alive") return rpc::text_response("ok\n");
    if (what == "ready")
        return at->has_state && at->trouble.empty() ? rpc::text_response("ok\n")
                                                    : rpc::text_response(at->trouble + "\n", 503);
    if (!at->has_state) return rpc::refusal({ErrorKind::Unavailable, "nothing is proven yet: " + at->trouble});
    const json::Object place{{"height", at->state_header.height.number()},
                             {"block", hash_of(at->state_header).hex()},
                             {"stateRoot", at->state_header.state_root.hex()}};
    if (what == "tip")
        return rpc::json_response(
            json::Object{{"height", at->header.height.number()},
                         {"hash", at->hash.hex()},
                         {"time", to_rfc3339(at->header.time, Precision::Millis)},
                         {"stateRoot", at->header.state_root.hex()},
                         {"final", json::Object{{"height", at->header.height.number()}, {"hash", at->hash.hex()}}}});
    if (const auto word = call.word("at"); word && *word != "latest")
        return rpc::refusal({ErrorKind::Unavailable, "a light node has the newest final state only"});
    // That nothing stands at a path is known of the paths that are followed, and of no others.
    const auto asked = call.word(what == "list" ? "prefix" : "path");
    if (what == "list" || asked) {
        const auto prefix = parse_prefix(asked.value_or("/"), what == "list" ? "prefix" : "path");
        if (!prefix) return rpc::refusal(prefix.error());
        const auto covers = [&](const auto& one) { return one.second.covers(prefix->key()); };
        if (std::none_of(follows.begin(), follows.end(), covers)) {
            std::string known;
            for (const auto& [text, ignored] : follows) known += (known.empty() ? "" : ", ") + text;
            return rpc::refusal({ErrorKind::NotFound, fmt::format("{} is not among what this light node follows: {}",
                                                                  asked.value_or("/"), known)});
        }
    }
    return what == "list" ? rpc::answer_list(call, at->state, place) : rpc::answer_entry(call, at->state, place);
}

Result<void> LightNode::Inside::listen() {
    auto router = std::make_shared<http::Router>();
    const auto add = [&](std::string_view method, std::string_view path, std::string_view what) {
        router->route(method, path, [this, what](http::Exchange& exchange, const http::PathParts&) -> Task<void> {
            rpc::Call call{.exchange = exchange};
            auto query = http::parse_query(exchange.request().query());
            if (query) call.query = *std::move(query);
            (void)co_await exchange.respond(answer(what, call));
        });
    };
    add("GET", "/livez", "alive");
    add("GET", "/healthz", "alive");
    add("GET", "/readyz", "ready");
    add("GET", "/metrics", "metrics");
    add("GET", "/rhizome/v1/status", "status");
    add("GET", "/rhizome/v1/tip", "tip");
    add("GET", "/rhizome/v1/state", "entry");
    add("GET", "/rhizome/v1/state/list", "list");
    add("POST", "/rhizome/v1/stop", "stop");
    router->route("*", "/*", [](http::Exchange& exchange, const http::PathParts&) -> Task<void> {
        const Error error{ErrorKind::NotFound, "a light node does not answer this; a full one does: --node ADDRESS"};
        (void)co_await exchange.respond(rpc::refusal(error));
    });
    TRY(runtime::make_folder(options.data / "node", 0700));
    // Nobody else may connect, not even for the moment between making the socket and closing it to others.
    const mode_t before = ::umask(0177);
    auto made = http::Server::start(
        io,
        {.listen = {{.address = {.host = socket_file(options.data).native(), .is_local = true}, .log = log}},
         .log = log},
        http::Router::handler(std::shared_ptr<const http::Router>(std::move(router))));
    ::umask(before);
    if (!made) return Fail{std::move(made).error()};
    server = *std::move(made);
    return ok();
}

LightNode::LightNode(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

Result<std::unique_ptr<LightNode>> LightNode::start(LightOptions options) {
    auto inside = std::make_unique<Inside>(std::move(options));
    Inside& in = *inside;
    for (const std::string& path : in.options.follow) {
        TRY(auto prefix, parse_prefix(path, "--follow"));
        in.follows.emplace(path, std::move(prefix));
        in.above.insert(state::Path::cluster());
        if (const auto one = state::Path::parse(path))
            for (const state::Path& ancestor : one->ancestors()) in.above.insert(ancestor);
    }
    std::erase_if(in.above, [&](const state::Path& path) {
        return std::any_of(in.follows.begin(), in.follows.end(),
                           [&](const auto& one) { return one.second.covers(path.key()); });
    });
    TRY(runtime::make_folder(in.options.data / "light", 0700));
    TRY(in.listen());
    in.restore();
    std::unique_ptr<LightNode> node{new LightNode{std::move(inside)}};
    in.thread = std::thread{[&in] { in.run(); }};
    return node;
}

LightNode::~LightNode() {
    {
        const std::lock_guard hold{inside_->mutex};
        inside_->stopping = true;
        inside_->changed.notify_all();
    }
    if (inside_->thread.joinable()) inside_->thread.join();
    if (inside_->server) {
        inside_->server->stop(kGrace);
        inside_->server.reset();
        std::error_code ignored;
        std::filesystem::remove(socket_file(inside_->options.data), ignored);
    }
}

bool LightNode::wait_for_end(milliseconds most) {
    std::unique_lock hold{inside_->mutex};
    return inside_->changed.wait_for(hold, most, [&] { return inside_->should_end; });
}

json::Object LightNode::status() const { return inside_->status(); }

std::string LightNode::trouble() const { return inside_->shown()->trouble; }

}  // namespace rhizome::node
