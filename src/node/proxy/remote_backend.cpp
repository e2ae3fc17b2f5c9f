// SPDX-License-Identifier: Apache-2.0
#include "node/proxy/remote_backend.h"

#include <atomic>
#include <map>

#include <fmt/core.h>

#include "http/message.h"
#include "ledger/json_form.h"
#include "node/proxy/evidence.h"
#include "node/proxy/held.h"
#include "node/proxy/remote_vault.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"

namespace rhizome::node {
namespace {

/// What is followed: all documents, and what locks are judged by.
constexpr std::string_view kFollowed[] = {"/", "/chain/id", "/chain/parameters", "/chain/history", "/chain/members"};
constexpr std::size_t kSubtreeAnswerMax = 2 * follow::kSubtreeBytesMax + 1'024;
constexpr unsigned kCallsAtOnce = 8;
/// For themselves: writes wait for their blocks, and whoever reads a Secret does not wait for those.
constexpr unsigned kSecretCallsAtOnce = 4;
/// After the connection was lost, before the next attempt.
constexpr milliseconds kAgain{1'000};
/// Of one transaction: at once over another connection, and after a pause that a node needs to start again.
constexpr int kSendAttempts = 4;
/// For the first proof.
constexpr seconds kFirstProof{120};
/// What is heard of machines is asked for anew when it is older.
constexpr seconds kHeardFor{5};

class PersonsSigner final : public api::Signer {
public:
    PersonsSigner(const ProxyOptions& options, ledger::ChainId chain) : options_(options), chain_(chain) {}

    Result<ledger::SharedTx> sign(const ledger::Tx& draft, const api::User&, const state::StateView& view) override {
        TRY(auto done, sign_with_keys(draft, options_.keys, chain_, view, runtime::now()));
        if (!done.complete)
            return fail(ErrorKind::Denied,
                        fmt::format("your key does not open the lock{}: {}", done.closed, done.missing));
        TRY(auto checked, ledger::check_tx(std::move(done.tx)));
        return checked;
    }
    Result<Bytes> compile_lock(std::string_view text) override { return compile_lock_with(options_.names, text); }

    std::optional<Result<std::string>> hold(const ledger::Tx& draft, const state::StateView& view,
                                            bool wanted) override {
        if (!wanted && !options_.hold_all) return std::nullopt;
        const auto done = sign_with_keys(draft, options_.keys, chain_, view, runtime::now());
        if (!done || done->signatures == 0) return std::nullopt;
        const auto file = hold_tx(options_.held, done->tx);
        if (!file) return Result<std::string>{Fail{file.error()}};
        return Result<std::string>{
            fmt::format("it is held as {} until others have signed: the lock{} wants {}. 'rhizome tx held' lists what "
                        "waits; 'rhizome tx sign' and 'rhizome tx submit' take its file",
                        id_of(done->tx).hex(), done->closed, done->missing)};
    }

private:
    const ProxyOptions& options_;
    ledger::ChainId chain_;
};

}  // namespace

struct RemoteBackend::Inside {
    explicit Inside(ProxyOptions given)
        : options(std::move(given)),
          secret_calls(options.connect, kSecretCallsAtOnce),
          calls(options.connect, kCallsAtOnce) {}

    const ProxyOptions options;
    ledger::ChainId chain{};
    std::unique_ptr<PersonsSigner> signer{};
    std::unique_ptr<RemoteVault> vault{};
    std::unique_ptr<api::Live> live{};

    std::mutex sync_mutex{};  ///< one at a time brings news
    ledger::Header header{};  ///< of the state shown
    state::StateView state{};

    std::mutex telling{};  ///< clients are told in the order in which things happened; before `mutex`

    std::mutex mutex{};
    std::condition_variable changed{};
    bool stopping = false;
    std::string trouble{};
    /// What clients are told goes by this.
    struct Shown {
        ledger::Header header{};
        state::StateView state{};
        /// Blocks up to here stay, in this state: it was asked for when they were known to, or it is proven itself.
        ledger::Height final_height{};
    };
    Shown shown{};
    ledger::Height final_height{};  ///< the newest: as the node says, or proven
    std::uint64_t next_client = 1;
    struct Waiting {
        ledger::SharedTx tx{};
        std::function<void(const api::Progress&)> told{};
        std::optional<ledger::Height> claimed{};  ///< of its block at most, once the node says that it is in one
        bool is_included = false;                 ///< it has been told so
        /// Its block, and the header below which that was shown to be; where the state alone does not tell.
        std::optional<std::pair<ledger::BlockHash, ledger::Height>> placed{};
        bool is_asked = false;  ///< for that
    };
    std::map<std::uint64_t, Waiting> waiting{};
    std::map<std::string, api::Heard, std::less<>> heard{};
    Time heard_at{};

    std::unique_ptr<LightNode> light{};
    std::thread follower{};
    RemoteCalls secret_calls;
    RemoteCalls calls;  ///< the last: what is under way uses the rest

    // ---- reading ---------------------------------------------------------------------------------------------------

    Result<follow::SubtreeProof> ask_subtree(RpcClient& client, std::string_view path, const std::string& at,
                                             std::optional<std::uint64_t> since) {
        const std::string target =
            fmt::format("/rhizome/v1/state/subtree?prefix={}&at={}{}", http::percent_encode(std::string{path}), at,
                        since ? fmt::format("&since={}", *since) : std::string{});
        TRY(const auto text, client.text("GET", target, "", kSubtreeAnswerMax));
        const auto body = json::parse(text, {.bytes = kSubtreeAnswerMax});
        const auto bytes = body ? from_hex(body->text_at({"proof"})) : std::nullopt;
        if (!bytes) return fail(ErrorKind::Failed, "the node's answer cannot be read");
        auto proof = follow::decode_subtree_proof(*bytes);
        if (!proof) return Fail{to_error(proof.error())};
        if (proof->chain != chain) return fail(ErrorKind::Failed, "the node has changed its chain");
        return *std::move(proof);
    }

    /// The state after the node's newest block, of which only what changed comes along; after a reorganisation that
    /// may not be enough, and all comes.
    Result<void> sync(RpcClient& client) {
        const std::lock_guard hold{sync_mutex};
        for (const bool whole : {header.height.number() == 0, true}) {
            auto fetched = fetch(client, whole);
            if (fetched || whole) return fetched;
        }
        return {};
    }
    Result<void> fetch(RpcClient& client, bool whole) {
        const auto since = whole ? std::nullopt : std::optional{header.height.number()};
        ledger::Height final_before{};
        {
            const std::lock_guard hold{mutex};
            final_before = final_height;
        }
        ledger::Header newest{};
        state::StateView next = state;
        std::string at = "latest";
        for (const std::string_view path : kFollowed) {
            TRY(const auto proof, ask_subtree(client, path, at, since));
            if (at == "latest") {
                newest = proof.header;
                at = std::to_string(newest.height.number());
            } else if (hash_of(proof.header) != hash_of(newest)) {
                return fail(ErrorKind::Conflict, "the chain moved meanwhile");
            }
            auto completed = follow::with_subtree(next, proof);
            if (!completed) return fail(ErrorKind::Failed, follow::to_text(completed.error()));
            next = *std::move(completed);
        }
        show(newest, std::move(next), final_before);
        return {};
    }
    /// With `sync_mutex` held.
    void show(const ledger::Header& newest, state::StateView next, ledger::Height final_in_it) {
        header = newest;
        state = std::move(next);
        if (live) live->follow(state, final_in_it);
        const std::lock_guard hold{mutex};
        shown = {.header = header, .state = state, .final_height = final_in_it};
        changed.notify_all();
    }

    void hear(RpcClient& client) {
        if (runtime::now() - heard_at < kHeardFor) return;
        const auto status = client.get("/rhizome/v1/status");
        const json::Value* members = status ? status->find("members") : nullptr;
        if (members == nullptr || !members->is_array()) return;
        std::map<std::string, api::Heard, std::less<>> now;
        for (const json::Value& one : *members->if_array()) {
            const json::Value* ready = one.find("ready");
            const json::Value* silent = one.find("silentSeconds");
            now[std::string{one.text_at({"node"})}] = {
                .is_member = true,
                .in_lease = ready != nullptr && ready->if_boolean().value_or(false),
                .silent_seconds = silent == nullptr ? 0 : silent->if_int64().value_or(0)};
        }
        const std::lock_guard hold{mutex};
        heard = std::move(now);
        heard_at = runtime::now();
    }

    bool is_stopping() {
        const std::lock_guard hold{mutex};
        return stopping;
    }
    void note(const std::string& why) {
        {
            const std::lock_guard hold{mutex};
            if (why == trouble) return;
            trouble = why;
        }
        if (!why.empty()) options.log.warn("the node cannot be followed", {{"why", why}});
    }

    void told_of(RpcClient& client, const json::Value& event) {
        // What is not proven has not happened; proofs come to the light node.
        if (options.verify) {
            note("");
            return hear(client);
        }
        if (event.text_at({"type"}) == "final") {
            const json::Value* height = event.find("height");
            const std::lock_guard hold{mutex};
            final_height =
                ledger::Height{height == nullptr ? 0 : static_cast<std::uint64_t>(height->if_int64().value_or(0))};
            // Who waits for it is told by a state that was asked for from now on.
            if (waiting.empty()) return;
        } else {
            hear(client);
        }
        const auto done = sync(client);
        note(done ? "" : done.error().message);
        if (done) tell_all();
    }

    /// What happens at the node, until this one ends.
    void run() {
        while (!is_stopping()) {
            auto events = options.connect();
            auto reads = events ? options.connect() : Result<std::unique_ptr<RpcClient>>{Fail{events.error()}};
            if (reads) {
                const json::Object wish{{"events", json::Array{"blocks", "final"}}};
                const auto ended = (*events)->subscribe(wish, [&](const json::Value& event) {
                    told_of(**reads, event);
                    return !is_stopping();
                });
                if (!ended) note(ended.error().message);
            } else {
                note(reads.error().message);
            }
            std::unique_lock hold{mutex};
            changed.wait_for(hold, kAgain, [&] { return stopping; });
        }
    }

    /// Starts what believes nobody, and returns with the first state that is proven.
    Result<void> follow_proofs() {
        LightOptions wish{.data = options.light_data,
                          .connect = options.connect,
                          .vouched = options.vouched,
                          .version = options.version,
                          .log = options.log};
        wish.every = milliseconds{250};
        for (const std::string_view path : kFollowed) wish.follow.emplace_back(path);
        wish.proven = [this](const ledger::Header& proven, const ledger::ChainId& of, const state::StateView& in_it) {
            {
                const std::lock_guard hold{sync_mutex};
                {
                    const std::lock_guard brief{mutex};
                    if (shown.header.height.number() == 0) chain = of;
                    final_height = proven.height;
                }
                show(proven, in_it, proven.height);
            }
            note("");
            tell_all();
        };
        TRY(light, LightNode::start(std::move(wish)));
        std::unique_lock hold{mutex};
        if (!changed.wait_for(hold, kFirstProof, [&] { return shown.header.height.number() > 0; }))
            return fail(ErrorKind::Unavailable,
                        "the node has proven nothing in two minutes\n'rhizome status' there says "
                        "whether blocks become final");
        return {};
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    /// Refused: nothing comes after it. What the state shows is not refused, whatever the node says.
    void refuse(std::uint64_t client, ledger::RejectCode code, std::string why) {
        const std::lock_guard order{telling};
        std::function<void(const api::Progress&)> told;
        {
            const std::lock_guard hold{mutex};
            const auto at = waiting.find(client);
            if (at == waiting.end() || at->second.is_included) return;
            told = std::move(at->second.told);
            waiting.erase(at);
        }
        told({.stage = api::Stage::Refused, .refused = ledger::Reject{.code = code, .why = std::move(why)}});
    }
    void accepted(std::uint64_t client) {
        const std::lock_guard order{telling};
        std::function<void(const api::Progress&)> told;
        {
            const std::lock_guard hold{mutex};
            const auto at = waiting.find(client);
            if (at == waiting.end() || at->second.is_included) return;
            told = at->second.told;
        }
        told({.stage = api::Stage::Accepted});
    }

    /// How far a transaction has come in what is shown.
    enum class Seen : std::uint8_t { Nowhere, Included, Final };
    Seen seen(const Waiting& one) const {
        const auto of_block = [&](ledger::Height height) {
            return options.verify || height <= shown.final_height ? Seen::Final : Seen::Included;
        };
        if (const auto height = written_in(shown.state, *one.tx)) return of_block(*height);
        if (one.placed && one.placed->first == hash_of(shown.header)) return of_block(one.placed->second);
        // Without the node's word it may be gone by somebody else's hand, and this deletion refused.
        if (one.claimed && *one.claimed <= shown.header.height && is_gone(shown.state, *one.tx))
            return options.verify ? Seen::Final : Seen::Included;
        return Seen::Nowhere;
    }

    /// Tells those who wait what the state shows now, each stage once. Where the node says that a transaction is in a
    /// block and the state does not tell, since somebody has written over it, the block is looked for.
    void tell_all() {
        const std::lock_guard order{telling};
        std::vector<std::pair<std::function<void(const api::Progress&)>, api::Stage>> news;
        {
            const std::lock_guard hold{mutex};
            for (auto at = waiting.begin(); at != waiting.end();) {
                Waiting& one = at->second;
                const Seen now = seen(one);
                if (now != Seen::Nowhere && !std::exchange(one.is_included, true))
                    news.emplace_back(one.told, api::Stage::Included);
                if (now == Seen::Final) {
                    news.emplace_back(std::move(one.told), api::Stage::Final);
                    at = waiting.erase(at);
                    continue;
                }
                const bool known_below = one.placed && one.placed->first == hash_of(shown.header);
                const bool may_be_there = one.claimed && *one.claimed <= shown.header.height;
                if (may_be_there && !known_below && !written_in(shown.state, *one.tx) &&
                    !std::exchange(one.is_asked, true))
                    calls.post([this, id = at->first, tx = one.tx](RpcClient* client) { place(client, id, *tx); });
                ++at;
            }
        }
        for (const auto& [told, stage] : news) told({.stage = stage});
    }

    /// Finds a transaction's block below what is shown.
    void place(RpcClient* client, std::uint64_t id, const ledger::CheckedTx& tx) {
        ledger::Header below;
        {
            const std::lock_guard hold{mutex};
            below = shown.header;
        }
        const auto height = client == nullptr ? Result<ledger::Height>{fail(ErrorKind::Unavailable, "nobody to ask")}
                                              : place_below(*client, tx, below);
        {
            const std::lock_guard hold{mutex};
            const auto at = waiting.find(id);
            if (at == waiting.end()) return;
            at->second.is_asked = false;
            if (height) at->second.placed = {hash_of(below), *height};
        }
        if (height) return tell_all();
        options.log.debug("the block of a transaction is not shown", {{"tx", tx.id}, {"why", height.error().message}});
    }

    /// Where nobody answers, it may have arrived, and a client that is told to try again makes a second change of it.
    /// So the same transaction is sent once more over another connection, which its id makes harmless; and then nothing
    /// is said: the state may show it yet, or the client is told at its deadline that it is not known.
    void send(RpcClient* client, std::uint64_t id, const ledger::SharedTx& tx) {
        const std::string body = json::print(ledger::to_json(tx->tx));
        std::unique_ptr<RpcClient> fresh;
        for (int attempt = 1;; ++attempt) {
            const auto reply =
                client == nullptr ? Result<RpcClient::Reply>{fail(ErrorKind::Unavailable, "the node cannot be asked")}
                                  : client->ask("POST", "/rhizome/v1/txs?wait=included&timeout=60s", body, seconds{70});
            if (reply && is_answer(*reply)) return answered(*client, id, *reply, attempt > 1);
            options.log.warn("the node has not said what became of a transaction",
                             {{"tx", tx->id}, {"why", reply ? reply->error().message : reply.error().message}});
            if (attempt == kSendAttempts || !pause_before_sending(id, attempt > 1 ? kAgain : milliseconds{0})) return;
            auto made = options.connect();
            fresh = made ? *std::move(made) : nullptr;
            client = fresh.get();
        }
    }
    /// Whether it says what became of the transaction: also that it was not let in at all.
    static bool is_answer(const RpcClient::Reply& reply) {
        return reply.status < 500 || reply.status == 503 || reply.body.find("refused") != nullptr;
    }
    /// False when nobody waits for it any more.
    bool pause_before_sending(std::uint64_t id, milliseconds most) {
        std::unique_lock hold{mutex};
        changed.wait_for(hold, most, [&] { return stopping; });
        return !stopping && waiting.contains(id);
    }

    /// The node's word about a transaction: a refusal is believed, the rest is where to look.
    void answered(RpcClient& client, std::uint64_t id, const RpcClient::Reply& reply, bool is_again) {
        const json::Value& body = reply.body;
        if (body.find("refused") != nullptr) {
            const auto code = ledger::reject_code_from_name(body.text_at({"refused", "code"}));
            // Then it came in the first time: it is in the chain, wherever that is.
            if (is_again && code == ledger::RejectCode::Replay) return claimed(client, id, {});
            return refuse(id, code.value_or(ledger::RejectCode::BadEncoding),
                          std::string{body.text_at({"refused", "why"})});
        }
        if (!reply.is_good()) return not_let_in(id, reply.error());
        const json::Value* height = body.find("height");
        if (height == nullptr) return accepted(id);
        claimed(client, id, ledger::Height{static_cast<std::uint64_t>(height->if_int64().value_or(0))});
    }
    void not_let_in(std::uint64_t id, const Error& why) {
        using ledger::RejectCode;
        const bool later = why.kind == ErrorKind::Unavailable || why.kind == ErrorKind::Exhausted;
        refuse(id,
               why.kind == ErrorKind::Denied ? RejectCode::NotAuthorised
               : later                       ? RejectCode::Throttled
                                             : RejectCode::BadEncoding,
               why.message);
    }
    /// The node says that it is in the block of this height, or a lower one.
    void claimed(RpcClient& client, std::uint64_t id, ledger::Height height) {
        {
            const std::lock_guard hold{mutex};
            const auto at = waiting.find(id);
            if (at == waiting.end()) return;
            at->second.claimed = height;
        }
        accepted(id);
        if (!options.verify) {
            // Where this fails, the next block brings the state that shows it.
            const auto done = sync(client);
            if (!done) return note(done.error().message);
        }
        tell_all();
    }
};

RemoteBackend::RemoteBackend(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}

Result<std::unique_ptr<RemoteBackend>> RemoteBackend::start(ProxyOptions options) {
    TRY(const auto client, options.connect());
    auto inside = std::make_shared<Inside>(std::move(options));
    Inside& in = *inside;
    std::unique_ptr<RemoteBackend> backend{new RemoteBackend{std::move(inside)}};
    if (in.options.verify) {
        TRY(in.follow_proofs());
    } else {
        TRY(const auto status, client->get("/rhizome/v1/status"));
        const auto chain = ledger::ChainId::from_hex(status.text_at({"chainId"}));
        if (!chain) return fail(ErrorKind::Failed, "the node's status cannot be read");
        in.chain = *chain;
        const json::Value* final_height = status.find_path({"final", "height"});
        if (final_height != nullptr)
            in.final_height = ledger::Height{static_cast<std::uint64_t>(final_height->if_int64().value_or(0))};
        TRY(in.sync(*client));
    }
    in.signer = std::make_unique<PersonsSigner>(in.options, in.chain);
    in.vault = std::make_unique<RemoteVault>(in.secret_calls, in.chain);
    {
        const std::lock_guard hold{in.sync_mutex};
        std::array<std::uint8_t, 4> tag{};
        runtime::fill_with_entropy(tag);
        const std::uint32_t number =
            std::uint32_t{tag[0]} << 24 | std::uint32_t{tag[1]} << 16 | std::uint32_t{tag[2]} << 8 | tag[3];
        in.live =
            std::make_unique<api::Live>(api::Revisions{api::first_revision(runtime::now(), number), in.state, {}});
    }
    in.hear(*client);
    in.follower = std::thread{[&in] { in.run(); }};
    return backend;
}

RemoteBackend::~RemoteBackend() {
    {
        const std::lock_guard hold{inside_->mutex};
        inside_->stopping = true;
        inside_->changed.notify_all();
    }
    // It ends with the next event: a block comes at least with every heartbeat.
    if (inside_->follower.joinable()) inside_->follower.join();
    inside_->light.reset();
}

api::Live& RemoteBackend::live() { return *inside_->live; }
api::Signer& RemoteBackend::signer() { return *inside_->signer; }
api::Vault* RemoteBackend::vault() { return inside_->vault.get(); }

api::HeardOf RemoteBackend::heard_of() {
    const std::lock_guard hold{inside_->mutex};
    return [heard = inside_->heard](std::string_view node) {
        const auto at = heard.find(node);
        return at == heard.end() ? api::Heard{} : at->second;
    };
}

std::uint64_t RemoteBackend::submit(ledger::SharedTx tx, std::function<void(const api::Progress&)> told) {
    std::uint64_t id = 0;
    {
        const std::lock_guard hold{inside_->mutex};
        id = inside_->next_client++;
        inside_->waiting.emplace(id, Inside::Waiting{.tx = tx, .told = std::move(told)});
    }
    inside_->calls.post([&in = *inside_, id, tx = std::move(tx)](RpcClient* client) {
        if (client != nullptr) return in.send(client, id, tx);
        in.refuse(id, ledger::RejectCode::Throttled, "the node cannot be asked; nothing was sent");
    });
    return id;
}

void RemoteBackend::forget(std::uint64_t client) {
    const std::lock_guard hold{inside_->mutex};
    inside_->waiting.erase(client);
}

state::Height RemoteBackend::final_height() {
    const std::lock_guard hold{inside_->mutex};
    return inside_->final_height;
}

std::vector<api::HealthCheck> RemoteBackend::health() {
    const std::lock_guard hold{inside_->mutex};
    std::vector<api::HealthCheck> checks{{.name = "ping"},
                                         {.name = "node", .good = inside_->trouble.empty(), .why = inside_->trouble}};
    if (inside_->light) {
        // A node that answers and proves nothing shows the past.
        std::string why = inside_->light->trouble();
        const bool good = why.empty();
        checks.push_back({.name = "proofs", .good = good, .why = std::move(why)});
    }
    return checks;
}

std::string RemoteBackend::metrics() {
    const std::lock_guard hold{inside_->mutex};
    return fmt::format(
        "# HELP rhizome_proxy_height Height of the block whose state the proxy shows.\n"
        "# TYPE rhizome_proxy_height gauge\nrhizome_proxy_height {}\n",
        inside_->shown.header.height.number());
}
Time RemoteBackend::now() { return runtime::now(); }
void RemoteBackend::fill_with_entropy(std::span<std::uint8_t> out) { runtime::fill_with_entropy(out); }

}  // namespace rhizome::node
