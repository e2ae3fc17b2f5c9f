// SPDX-License-Identifier: Apache-2.0
#include "node/joining.h"

#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "base/codec.h"
#include "ledger/signing.h"
#include "ledger/special_kinds.h"
#include "node/caller.h"
#include "node/peers.h"
#include "script/template.h"

namespace rhizome::node {
namespace {

constexpr std::string_view kTicketStart = "rz1-";
constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kChecksumBytes = 4;

Bytes compiled(const std::string& text) {
    auto lock = script::compile(text);
    ensure(lock.has_value(), "a lock of ours compiles");
    return *std::move(lock);
}

/// Asks for the first blocks, and waits for them.
class Asker final : public Caller {
public:
    explicit Asker(const ledger::ChainId& chain) : Caller(chain), chain_(chain) {}

    Result<ledger::Block> wait(milliseconds most) {
        std::unique_lock hold{mutex_};
        if (!done_.wait_for(hold, most, [&] { return answer_.has_value(); }))
            return fail(ErrorKind::Unavailable, "it does not answer");
        return *std::move(answer_);
    }

private:
    // An empty locator: from genesis on.
    void met(net::LinkNumber link) override { send(link, core::WantBlocks{}); }
    void told(net::LinkNumber, core::Message message) override {
        const auto* blocks = std::get_if<core::Blocks>(&message);
        if (blocks == nullptr) return;
        if (blocks->blocks.empty())
            return end(
                fail(ErrorKind::NotFound,
                     "it does not have the first blocks of its chain: it began with a snapshot, or pruned them"));
        if (ledger::ChainId{hash_of(blocks->blocks.front()->header).view()} != chain_) return;
        end(*blocks->blocks.front());
    }
    void lost(std::optional<net::LinkNumber>, const Error& why) override { end(Fail{why}); }
    void end(Result<ledger::Block> answer) {
        const std::lock_guard hold{mutex_};
        if (!answer_) answer_ = std::move(answer);
        done_.notify_all();
    }

    ledger::ChainId chain_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::optional<Result<ledger::Block>> answer_{};
};

}  // namespace

std::string JoinTicket::text() const {
    Writer out;
    out.id(chain).u64(height.number()).id(block).raw(staging.view()).short_blob(as_bytes(name));
    const auto checksum = crypto::sha256(out.view());
    out.raw(checksum.view().first(kChecksumBytes));
    return std::string{kTicketStart} + to_hex(out.view());
}

Result<JoinTicket> JoinTicket::parse(std::string_view text) {
    const auto bad = [](std::string_view why) {
        return fail(ErrorKind::Invalid, fmt::format("this is no join token: {}\ncopy all of what 'token new' printed, "
                                                    "from rz1- to the end",
                                                    why));
    };
    if (!text.starts_with(kTicketStart)) return bad("it does not begin with rz1-");
    const auto bytes = from_hex(text.substr(kTicketStart.size()));
    if (!bytes || bytes->size() < kChecksumBytes) return bad("it is not hexadecimal");
    const ByteView body = ByteView{*bytes}.first(bytes->size() - kChecksumBytes);
    const ByteView sum = ByteView{*bytes}.subspan(body.size());
    const auto right = crypto::sha256(body);
    if (!std::equal(sum.begin(), sum.end(), right.view().begin())) return bad("a letter of it is wrong or missing");
    const auto read = [&]() -> Result<JoinTicket, DecodeFault> {
        JoinTicket ticket;
        Reader in{body};
        TRY(ticket.chain, in.id<ledger::ChainId>());
        TRY(const auto number, in.u64());
        ticket.height = ledger::Height{number};
        TRY(ticket.block, in.id<ledger::BlockHash>());
        TRY(const auto secret, in.raw(32));
        std::copy(secret.begin(), secret.end(), ticket.staging.writable().begin());
        TRY(const auto token, in.short_blob(kNameBytesMax));
        ticket.name = std::string{token.begin(), token.end()};
        TRY(in.finish());
        return ticket;
    };
    auto ticket = read();
    if (!ticket || !crypto::SecretKey::from_bytes(ticket->staging.view())) return bad("it is malformed");
    return *std::move(ticket);
}

crypto::SecretKey JoinTicket::key() const {
    auto key = crypto::SecretKey::from_bytes(staging.view());
    ensure(key.has_value(), "a ticket's key was checked");
    return *std::move(key);
}

Bytes staging_lock(const crypto::PublicKey& staging) { return compiled("p2pkh " + staging.address().hex()); }

std::string join_token_document(std::string_view name, std::uint64_t count, Time expires) {
    return json::print(json::Object{{"apiVersion", "rhizome.dev/v1"},
                                    {"kind", "JoinToken"},
                                    {"metadata", json::Object{{"name", name}}},
                                    {"spec", json::Object{{"count", count}, {"expires", to_rfc3339(expires)}}}});
}

Result<ledger::SharedTx> make_join_tx(const JoinTicket& ticket, const std::string& node, const crypto::NodeKeys& keys,
                                      const NodeTraits& traits, const state::StateView& view) {
    const auto path = state::Path::join_token(ticket.name);
    const state::Entry* token = path ? view.get(*path) : nullptr;
    if (token == nullptr)
        return fail(ErrorKind::NotFound, "the join token is not known on this chain: it was used up or revoked");
    json::Value document = ledger::parse_checked(token->document());
    TRY(const auto read, ledger::read_join_token(document));

    ledger::Tx tx;
    tx.inputs = {{.previous = token->origin().latest.output}};
    tx.outputs = {{.value = json::print(node_document(node, keys, ticket.chain, traits)),
                   .locking = compiled("p2pkh " + keys.chain.public_key().address().hex())}};
    if (read.count > 1) {
        document["spec"]["count"] = json::Value{read.count - 1};
        tx.outputs.push_back({.value = json::print(document), .locking = to_bytes(token->script())});
    }
    const ledger::LedgerState state{view};
    TRY(const auto draft, ledger::check_tx(tx));
    const auto secret = ticket.key();
    const ledger::Signer signer{secret, secret.public_key()};
    const auto uses = ledger::uses_of_inputs(*draft, state);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        auto progress = ledger::advance(*draft, i, uses[i], ticket.chain, state, &signer);
        if (!progress.complete)
            return fail(ErrorKind::Denied, "the join token does not open its lock: " + progress.missing);
        tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    TRY(auto checked, ledger::check_tx(std::move(tx)));
    return checked;
}

Result<ledger::Block> fetch_genesis(stream::IoContext& io, const stream::Address& address, const crypto::NodeKeys& keys,
                                    const ledger::ChainId& chain, milliseconds most) {
    Asker asker{chain};
    const stream::Strand strand = io.make_strand();
    TRY(const auto links, net::Links::start(io, strand, {}, keys, frame_bytes_max, asker));
    stream::run_on(strand, [&] {
        asker.begin(*links);
        asker.dial(address);
    });
    auto answer = asker.wait(most);
    stream::run_on(strand, [&] { asker.hang_up(); });
    links->stop();
    return answer;
}

}  // namespace rhizome::node
