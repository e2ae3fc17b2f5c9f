// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/io/service.h"
#include "api/testing.h"
#include "base/ensure.h"
#include "ledger/check.h"
#include "support/test_chain.h"

/// The API without a node: for tests of what waits, signs and acts.
namespace rhizome::test {

/// Opens every lock.
class AnySigner final : public api::Signer {
public:
    Result<ledger::SharedTx> sign(const ledger::Tx& draft, const api::User&, const state::StateView&) override {
        auto checked = ledger::check_tx(draft);
        if (!checked) return fail(ErrorKind::Invalid, checked.error().why);
        return *std::move(checked);
    }
    Result<Bytes> compile_lock(std::string_view) override { return fail(ErrorKind::Unsupported, "no locks here"); }
};

/// A chain in memory with the namespace `default`, which moves by hand: what is submitted is kept and answered with
/// `answer` or not at all. It has an authority that signs whatever it is asked for.
class StillBackend : public api::Backend {
public:
    StillBackend() : live_(api::Revisions{api::first_revision(kNow, 7), state::StateView{}, {}}) {
        chain_.mine_all({chain_.create("/", "creator", document("v1", "Namespace", "", "default"))});
        view_ = chain_.state().view();
        live_.follow(view_, chain_.tip().height);
    }
    /// A document stands there from now on, whatever a ledger would say to it.
    void write(const std::string& text) {
        state::Batch batch{view_};
        // As if by a transaction of its own.
        const state::EntryPtr made = world_.entry_of(text, view_);
        state::Origin origin = made->origin();
        fill_with_entropy(origin.latest.output.change.writable());
        auto entry = state::Entry::written(made->path(), origin, {}, text);
        ensure(entry.has_value(), "tests write small documents");
        batch.put(*std::move(entry));
        view_ = std::move(batch).finish().view;
        live_.follow(view_, chain_.tip().height);
    }
    /// As if nothing had ever been written.
    void forget_all() { live_.follow(state::StateView{}, chain_.tip().height); }

    api::Live& live() override { return live_; }
    api::Signer& signer() override { return signer_; }
    api::HeardOf heard_of() override { return {}; }
    std::uint64_t submit(ledger::SharedTx tx, std::function<void(const api::Progress&)> told) override {
        submitted.push_back(std::move(tx));
        if (answer && submitted.size() <= answered_max) told(*answer);
        return submitted.size();
    }
    void forget(std::uint64_t) override {}
    state::Height final_height() override { return chain_.tip().height; }
    std::vector<api::HealthCheck> health() override { return {}; }
    std::string metrics() override { return {}; }
    Time now() override { return kNow; }
    void fill_with_entropy(std::span<std::uint8_t> out) override {
        for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(++drawn_ % 251);
    }
    Machines machines() override { return {.me = "n1", .live = {"n1"}}; }
    Result<std::string> issue_certificate(const stream::CertificateRequest&, const CertificateWish& wish) override {
        issued.push_back(wish);
        return std::string{"a certificate"};
    }

    /// A call of somebody who may do everything.
    static api::Call call(const api::Service& service, api::Verb verb, const api::ResourcePath& path) {
        api::Call made{.verb = verb, .path = path, .media = "application/json", .now = kNow};
        made.registry = service.registry();
        made.kind = made.registry->kinds.find(path.group, path.version, path.resource);
        ensure(made.kind != nullptr, "tests ask for kinds that there are");
        if (!path.subresource.empty()) made.subresource = made.kind->find_subresource(path.subresource);
        made.user = {.name = "root", .groups = {std::string{api::kMasters}, std::string{api::kAuthenticated}}};
        return made;
    }

    static constexpr Time kNow = Time::from_unix_seconds(1'790'000'000);
    std::optional<api::Progress> answer{};
    std::size_t answered_max = std::numeric_limits<std::size_t>::max();  ///< the later ones are not
    std::vector<ledger::SharedTx> submitted{};
    std::vector<CertificateWish> issued{};

private:
    TestChain chain_;
    state::StateView view_;
    api::testing::World world_;
    api::Live live_;
    AnySigner signer_;
    unsigned drawn_ = 0;
};

}  // namespace rhizome::test
