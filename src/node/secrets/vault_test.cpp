// SPDX-License-Identifier: Apache-2.0
#include "node/secrets/vault.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "core/wire.h"
#include "ledger/special_kinds.h"
#include "support/read_json.h"
#include "support/running_node.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// Secrets at a whole node in this process, and what it tells its peers.
namespace rhizome::node {
namespace {

/// A peer to which everything is told, as the bytes that would be encrypted and sent.
class Listener final : public PeerPort {
public:
    void send(core::PeerId, const core::SharedMessage& message) override {
        const Bytes bytes = core::encode(*message);
        const auto hold = heard_.lock();
        heard_.value() += as_text(bytes);
        heard_.notify();
    }
    void blame(core::PeerId, const ledger::Reject&) override {}
    void praise(core::PeerId) override {}
    bool has(std::string_view word) { return heard_.copy().find(word) != std::string::npos; }
    bool comes_to_have(std::string_view word) {
        return heard_.wait([&](const std::string& all) { return all.find(word) != std::string::npos; });
    }

private:
    test::Waited<std::string> heard_;
};

class SecretsAtANode : public ::testing::Test {
protected:
    void SetUp() override {
        test::found_node(temp_.path(), owner_);
        auto identity = load_identity(temp_.path());
        ASSERT_TRUE(identity);
        identity_.emplace(*std::move(identity));
        auto host = Host::start(io_, {.folder = temp_.path()}, identity_->keys);
        ASSERT_TRUE(host) << host.error().message;
        host_ = *std::move(host);
        stream::run_on(host_->strand(), [&] {
            host_->set_peers(&listener_);
            host_->step(core::PeerUp{core::PeerId{1}});
        });
        KeyKeeper::Options options;
        options.data = temp_.path();
        keeper_ = std::make_unique<KeyKeeper>(io_, *host_, identity_->keys, std::move(options));
    }
    void TearDown() override {
        keeper_.reset();
        stream::run_on(host_->strand(), [&] { host_->set_peers(nullptr); });
        EXPECT_TRUE(host_->stop());
    }

    json::Value sealed(const json::Value& secret) {
        auto made = stream::block_on(io_, io_.make_strand(), seal_with(*keeper_, secret));
        EXPECT_TRUE(made) << made.error().message;
        return made ? *std::move(made) : json::Value{};
    }
    /// Writes a document as the owner; returns when it is in a block.
    void write(const json::Value& document) {
        const auto view = host_->view();
        ledger::DraftWish wish{.now = runtime::now()};
        wish.changes.push_back({.document = json::print(document)});
        auto draft = ledger::make_draft(wish, view->state);
        ASSERT_TRUE(draft) << to_text(draft.error());
        auto tx = ledger::check_tx(test::sign_tx(*view, owner_, *std::move(draft)));
        ASSERT_TRUE(tx) << to_text(tx.error());
        std::promise<core::Answer> told;
        auto once = std::make_shared<std::atomic<bool>>(false);
        const auto client = host_->submit(*tx, [&told, once](const core::Answer& answer) {
            if (answer.stage != core::Stage::Accepted && !once->exchange(true)) told.set_value(answer);
        });
        const core::Answer answer = told.get_future().get();
        host_->forget(client);
        ASSERT_FALSE(answer.refused) << to_text(*answer.refused);
    }
    const state::Entry* entry(std::string_view path) {
        held_ = host_->view();
        return held_->state.get(*state::Path::parse(path));
    }

    test::TempFolder temp_;
    crypto::SecretKey owner_ = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    stream::IoContext io_{{.threads = 2}};
    std::optional<Identity> identity_;
    Listener listener_;
    std::unique_ptr<Host> host_;
    std::unique_ptr<KeyKeeper> keeper_;
    std::shared_ptr<const NodeView> held_;
};

constexpr const char* kSecret =
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":"s","uid":"u"},"type":"Opaque",)"
    R"("data":{"telltale":"bWFya2VyLW9mLWEtc2VjcmV0"}})";

TEST_F(SecretsAtANode, AreNotInWhatPeersAreTold) {
    write(sealed(test::read(kSecret)));
    write(test::read(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"c"},)"
                     R"("data":{"open":"this-is-in-clear"}})"));
    EXPECT_TRUE(listener_.comes_to_have("this-is-in-clear")) << "what is said is heard";
    EXPECT_TRUE(listener_.has("\"KeyRing\""));
    EXPECT_FALSE(listener_.has("bWFya2VyLW9mLWEtc2VjcmV0"));
    EXPECT_FALSE(listener_.has("marker-of-a-secret"));
    EXPECT_FALSE(listener_.has("telltale"));
}

TEST_F(SecretsAtANode, AreOpenedForWhoeverCouldChangeThem) {
    const json::Value secret = test::read(kSecret);
    write(sealed(secret));
    const state::Entry* stored = entry("/namespaces/default/core/Secret/s");
    ASSERT_NE(stored, nullptr);
    SecretOpener owner{*keeper_, {owner_.public_key().bytes()}, "the owner"};
    const auto opened = owner.open(*stored);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(json::print_canonical(*opened), json::print_canonical(secret));
    const auto stranger = *crypto::SecretKey::from_bytes(Bytes(32, 9));
    SecretOpener other{*keeper_, {stranger.public_key().bytes()}, "somebody"};
    ASSERT_FALSE(other.open(*stored));
    EXPECT_EQ(other.open(*stored).error().why, api::Withheld::Why::Denied);
    EXPECT_TRUE(SecretOpener::for_machine(*keeper_).open(*stored));
}

TEST_F(SecretsAtANode, OneKeyServesUntilSomebodyLeaves) {
    const json::Value first = sealed(test::read(kSecret));
    EXPECT_EQ(sealed(test::read(kSecret)).text_at({"sealed", "key"}), first.text_at({"sealed", "key"}));
    // A ring that names somebody who is no member makes the key one that others know.
    const auto keys = keeper_->keys_of(host_->view()->state);
    ASSERT_EQ(keys->keys.size(), 1u);
    ClusterKeys left = *keys;
    ASSERT_TRUE(left.for_writing());
    left.members.clear();
    EXPECT_FALSE(left.for_writing());
    EXPECT_EQ(left.strangers(left.keys.begin()->second).size(), 1u);
    // A second keeper of the same machine knows the key from its disk.
    keeper_.reset();
    KeyKeeper::Options options;
    options.data = temp_.path();
    keeper_ = std::make_unique<KeyKeeper>(io_, *host_, identity_->keys, std::move(options));
    EXPECT_TRUE(keeper_->secret_of(keys->keys.begin()->first));
    const crypto::X25519Public unknown{std::array<std::uint8_t, 32>{1}};
    EXPECT_EQ(keeper_->secret_of(unknown).error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace rhizome::node
