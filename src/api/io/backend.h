// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/io/live.h"
#include "api/io/vault.h"
#include "api/shown.h"
#include "api/status.h"
#include "api/users.h"
#include "ledger/check.h"
#include "ledger/reject.h"
#include "ledger/tx.h"
#include "stream/certificate_request.h"

/// What the API needs of whoever it stands in front of: on a node the node itself with its keystore, on a laptop a
/// proxy with the user's own key. All calls from any thread.
namespace rhizome::api {

/// How far a transaction has come, in this order.
enum class Stage : std::uint8_t { Accepted, Included, Final, Refused };
std::string_view name(Stage stage);

struct Progress {
    Stage stage = Stage::Accepted;
    std::optional<ledger::Reject> refused{};
    std::string caution{};  ///< included: what its client should know, as long as nothing can become final
};

/// One line of `/readyz?verbose`.
struct HealthCheck {
    std::string name{};
    bool good = true;
    std::string why{};  ///< of a failure; of what is good only where there is something to say
};

class Signer {
public:
    virtual ~Signer() = default;
    /// The draft with every signature that this user's keys here can give. Denied, with what is missing, when that does
    /// not open all its locks; `view` is the state it was made for.
    virtual Result<ledger::SharedTx> sign(const ledger::Tx& draft, const User& user, const state::StateView& view) = 0;
    /// Keeps a draft that needs more signatures than this one has, with those there are, until others have signed it:
    /// the sentence that says so. Nothing where this signer keeps none, `wanted` or not, or could give no signature.
    virtual std::optional<Result<std::string>> hold(const ledger::Tx& /*draft*/, const state::StateView& /*view*/,
                                                    bool /*wanted*/) {
        return std::nullopt;
    }
    /// A lock from the template language.
    virtual Result<Bytes> compile_lock(std::string_view text) = 0;
    /// What a lock means, for people: `any 2 of 3 keys`. Empty where nobody knows.
    virtual std::string explain_lock(ByteView) { return {}; }
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual Live& live() = 0;
    virtual Signer& signer() = 0;
    virtual HeardOf heard_of() = 0;
    /// Who opens and seals what is not in clear on the chain; null: nothing is sealed.
    virtual Vault* vault() { return nullptr; }
    /// Whether documents that live off the chain are told to the cluster's nodes, and heard from them. Where they are
    /// not, nothing is done with such kinds: a lease that nobody hears of makes two leaders.
    virtual bool has_passing() { return true; }
    /// `told` is called with everything that becomes of it, on any thread, the last time with Final or Refused. When it
    /// is told Included, `live` shows it.
    virtual std::uint64_t submit(ledger::SharedTx tx, std::function<void(const Progress&)> told) = 0;
    virtual void forget(std::uint64_t client) = 0;
    virtual state::Height final_height() = 0;
    virtual std::vector<HealthCheck> health() = 0;
    virtual std::string metrics() = 0;
    virtual Time now() = 0;
    virtual void fill_with_entropy(std::span<std::uint8_t> out) = 0;

    /// This machine and those that are heard of, as the chain calls them: who of them does what one should do. An empty
    /// name where it is no member.
    struct Machines {
        std::string me{};
        std::vector<std::string> live{};
    };
    virtual Machines machines() { return {}; }
    /// Which cluster this is: tokens name it.
    virtual std::string chain_text() { return {}; }
    /// The name that tokens signed here carry: this machine's as a member. Unavailable where it is none.
    virtual Result<std::string> token_key_id() { return fail(ErrorKind::Unavailable, "this machine is no member"); }
    virtual Bytes sign_token(ByteView) { return {}; }
    /// The transport key that the member of this name has published; nothing when there is no such member (any more).
    virtual std::optional<std::array<std::uint8_t, 32>> token_key(std::string_view) { return std::nullopt; }
    /// Who vouches for a client's certificate: nobody's name for the authority of this API itself, else that of the
    /// member whose authority does. Nothing: nobody, or nobody any more. Asked for every request.
    virtual std::optional<std::string> voucher_of(const stream::Certificate&) { return std::string{}; }
    /// A client's certificate for the owner of the request's key, from the authority that this API believes.
    struct CertificateWish {
        std::string user{};
        std::vector<std::string> groups{};
        seconds lasts{0};
    };
    virtual Result<std::string> issue_certificate(const stream::CertificateRequest&, const CertificateWish&) {
        return fail(ErrorKind::Unavailable, "there is no authority here");
    }
};

}  // namespace rhizome::api
