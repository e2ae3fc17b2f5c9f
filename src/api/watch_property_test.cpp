// SPDX-License-Identifier: Apache-2.0
#include "api/watch.h"

#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/testing.h"
#include "base/random.h"
#include "support/seed.h"

namespace rhizome::api {
namespace {

using testing::World;

/// Somebody who watches as client-go does: lists, watches from there, and lists again when told that it is too late.
class Client {
public:
    Client(World& world, Selection selection, Random random)
        : world_(world), selection_(std::move(selection)), random_(random) {
        begin();
    }

    /// Reads a little, or nothing, or loses its connection.
    void turn() {
        if (random_.chance(1, 60)) return begin();                          // forgets everything
        if (random_.chance(1, 20)) return resume(world_.revisions, last_);  // a new connection
        if (random_.chance(1, slow_)) read(1 + random_.below(8));
    }
    void read(std::size_t most) {
        auto events = watch_->take(world_.revisions, most);
        if (!events) {
            ++expired;
            return begin();
        }
        for (const WatchEvent& event : *events) hear(event);
        last_ = std::max(last_, watch_->position());
    }
    void catch_up() {
        while (watch_->is_behind(world_.revisions)) read(64);
    }

    /// What it believes now: key to document.
    [[nodiscard]] const std::map<std::string, std::string>& known() const { return known_; }
    [[nodiscard]] std::map<std::string, std::string> fresh() const {
        std::map<std::string, std::string> all;
        for (const Standing& one : list(world_.revisions, selection_, 0, {}, {}).items)
            all.emplace(one.document->key(), one.document->document());
        return all;
    }

    std::size_t expired = 0;
    std::size_t heard = 0;

private:
    void begin() {
        slow_ = 1 + random_.below(3) * random_.below(400);
        known_.clear();
        if (random_.chance(1, 2)) {
            // The list comes with the watch.
            last_ = world_.revisions.newest();
            watch_.emplace(world_.revisions, selection_, WatchWish{.initial_events = true}, nullptr);
            fresh_ = true;
            return;
        }
        fresh_ = false;
        Listing listing = list(world_.revisions, selection_, 0, {}, {});
        for (const Standing& one : listing.items) known_.emplace(one.document->key(), one.document->document());
        last_ = listing.revision;
        resume(world_.revisions, last_);
    }
    void resume(const Revisions& revisions, Revision after) {
        if (fresh_) return;  // it has not heard the whole beginning yet: a client would start again
        const auto wish = watch_wish(revisions, std::to_string(after), "", false, false);
        if (!wish) {
            EXPECT_EQ(wish.error().code, 410u);
            ++expired;
            return begin();
        }
        watch_.emplace(revisions, selection_, *wish, nullptr);
    }
    void hear(const WatchEvent& event) {
        ++heard;
        if (event.type == EventType::Bookmark) {
            fresh_ = fresh_ && !event.ends_initial;
            return;
        }
        if (!fresh_) {
            EXPECT_GT(event.revision, last_told_) << "a revision came twice, or out of order";
            last_told_ = event.revision;
            if (event.revision <= last_) {
                ADD_FAILURE() << "told of what it knew";
            }
        }
        const std::string key{event.object.document->key()};
        const bool knew = known_.contains(key);
        EXPECT_EQ(knew, event.type != EventType::Added) << name(event.type) << " " << key;
        if (event.type == EventType::Deleted) {
            known_.erase(key);
        } else {
            known_[key] = event.object.document->document();
        }
    }

    World& world_;
    Selection selection_;
    Random random_;
    std::optional<Watch> watch_{};
    std::map<std::string, std::string> known_{};
    Revision last_ = 0;
    Revision last_told_ = 0;
    std::uint64_t slow_ = 1;
    bool fresh_ = false;
};

/// Random writes, some of which are later undone as a block is by a reorganisation.
class History {
public:
    History(World& world, Random random) : world_(world), random_(random) {}

    void step() {
        if (!past_.empty() && random_.chance(1, 25)) return reorganise();
        past_.push_back(world_.revisions.view(Layer::Chain));
        if (past_.size() > 12) past_.erase(past_.begin());
        state::Batch batch{world_.revisions.view(Layer::Chain)};
        const std::uint64_t writes = 1 + random_.below(4);
        for (std::uint64_t i = 0; i < writes; ++i) write(batch);
        world_.feed(std::move(batch));
    }

private:
    void write(state::Batch& batch) {
        const std::string space = random_.chance(1, 2) ? "default" : "web";
        const std::string name = fmt::format("c{}", random_.below(20));
        if (random_.chance(1, 3)) {
            (void)batch.erase(*state::Path::of("", "ConfigMap", space, name));
        } else {
            batch.put(world_.entry_of(World::config_map(space, name, std::to_string(random_.below(5)))));
        }
    }
    /// Back to an older state, with other blocks on top of it, told as one move of the tip.
    void reorganise() {
        const std::size_t at = random_.below(past_.size());
        state::Batch batch{past_[at]};
        write(batch);
        const state::StateView after = std::move(batch).finish().view;
        world_.revisions.feed(Layer::Chain, diff(world_.revisions.view(Layer::Chain), after), after);
        past_.resize(at);
    }

    World& world_;
    Random random_;
    std::vector<state::StateView> past_{};
};

TEST(WatchProperty, AHundredWatchersEndWithWhatAFreshListShows) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        Random random{test::seed_for(seed)};
        World world{{.changes = 200, .bytes = 1u << 20}};
        History history{world, random.fork("history")};
        std::vector<std::unique_ptr<Client>> clients;
        for (std::size_t i = 0; i < 100; ++i) {
            Selection selection = world.of("", "v1", "configmaps", i % 3 == 0 ? "web" : "");
            if (i % 4 == 0)
                selection.matches = [](const json::Value& object) { return object.text_at({"data", "v"}) < "3"; };
            if (i % 7 == 0) selection.name = "c3";
            clients.push_back(
                std::make_unique<Client>(world, std::move(selection), random.fork(fmt::format("c{}", i))));
        }
        for (int i = 0; i < 1000; ++i) {
            history.step();
            for (const auto& client : clients) client->turn();
        }
        std::size_t expired = 0;
        std::size_t heard = 0;
        for (const auto& client : clients) {
            client->catch_up();
            EXPECT_EQ(client->known(), client->fresh());
            expired += client->expired;
            heard += client->heard;
        }
        EXPECT_GT(expired, 20u) << "no reader was slow enough for this test to mean anything";
        EXPECT_GT(heard, 20'000u);
    }
}

TEST(WatchProperty, OneWhoReadsAllSeesEveryRevisionOnce) {
    Random random{test::seed_for(11)};
    World world{};
    History history{world, random.fork("history")};
    Watch watch{
        world.revisions, {.kind = world.kinds.find("", "v1", "configmaps")}, {.after = world.revisions.newest()}, {}};
    Revision next = world.revisions.newest() + 1;
    for (int i = 0; i < 1000; ++i) {
        history.step();
        if (!random.chance(1, 5)) continue;
        for (std::optional<std::vector<WatchEvent>> events = watch.take(world.revisions, 3);;
             events = watch.take(world.revisions, 3)) {
            ASSERT_TRUE(events);
            for (const WatchEvent& event : *events) EXPECT_EQ(event.revision, next++);
            if (!watch.is_behind(world.revisions)) break;
        }
    }
    EXPECT_GT(next - world.revisions.oldest(), 1000u);
}

}  // namespace
}  // namespace rhizome::api
