// SPDX-License-Identifier: Apache-2.0
// A store whose process is killed: what was promised is there again.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/descriptor.h"
#include "store/chain.h"
#include "support/chain_answers.h"
#include "support/crash_disk.h"
#include "support/seed.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using ledger::Height;
using test::ask_everything;
using test::genesis_of;
using test::kSmallStore;
using test::OpenRules;
using test::TempFolder;
using test::TestChain;
using test::vote_of;

constexpr std::uint64_t kBlocks = 200;

const TestChain& long_chain() {
    static const auto chain = [] {
        auto made = std::make_unique<TestChain>();
        test::grow_namespace(*made);
        while (made->blocks().size() <= kBlocks) test::grow(*made, "main", 1 + made->blocks().size() % 3);
        return made;
    }();
    return *chain;
}

/// What the child tells: `height` is about to be written, or is durable.
struct Message {
    std::uint64_t height = 0;
    bool durable = false;
};

/// The child: opens and commits, one sync for each block with the vote for it, until it is killed.
[[noreturn]] void commit_until_killed(const fs::path& folder, int out) {
    const auto tell = [&](const Message& message) {
        if (::write(out, &message, sizeof message) != sizeof message) ::_exit(2);
    };
    OpenRules rules;
    auto opened = rules.open(folder, kSmallStore);
    if (!opened) {
        fmt::print(stderr, "the child cannot open: {}\n", opened.error().message);
        ::_exit(3);
    }
    Chain& chain = **opened;
    Store& store = chain.store();
    for (std::uint64_t height = chain.tip().height.number() + 1; height <= kBlocks; ++height) {
        tell({.height = height});
        const bool done = store.record_vote(vote_of(height)) && chain.add(long_chain().blocks()[height]) &&
                          (height < 10 || store.mark_final(store.info_at(Height{height - 9})->hash)) && store.sync();
        if (!done || (height % 17 == 0 && !store.settle(true))) ::_exit(4);
        tell({.height = height, .durable = true});
    }
    ::_exit(chain.close() ? 0 : 5);
}

struct ChildRun {
    std::uint64_t begun = 0;
    std::uint64_t promised = 0;
    bool killed = false;
};

/// Starts the child and kills it some microseconds after it has told so many things.
ChildRun run_and_kill(const fs::path& folder, std::uint64_t messages, std::int64_t microseconds) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const runtime::Descriptor in{ends[0]};
    runtime::Descriptor out{ends[1]};
    const pid_t child = ::fork();
    if (child == 0) commit_until_killed(folder, out.get());
    out = {};
    ChildRun run;
    bool killed = false;
    const auto kill_now = [&] {
        test::pass_time(std::chrono::microseconds{microseconds}, "to strike anywhere between two messages");
        ::kill(child, SIGKILL);
        killed = true;
    };
    if (messages == 0) kill_now();
    Message message;
    for (std::uint64_t got = 1; ::read(in.get(), &message, sizeof message) == sizeof message; ++got) {
        (message.durable ? run.promised : run.begun) = message.height;
        if (got == messages) kill_now();
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
    EXPECT_TRUE(killed || WIFEXITED(status));
    run.killed = WIFSIGNALED(status);
    return run;
}

TEST(StoreProcessKill, TheStoreGoesOnFromTheLastPromisedBlock) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const TempFolder home{test::fast_place()};
        const fs::path folder = home / "data";
        OpenRules rules;
        {
            auto made =
                Chain::create(folder, genesis_of(long_chain()), rules.block_rules(), rules.parallel, kSmallStore);
            ASSERT_TRUE(made) << made.error().message;
        }
        Random random{test::seed_for(seed)};
        std::uint64_t promised = 0;
        std::uint64_t kills = 0;
        for (int runs = 0; promised < kBlocks && runs < 60; ++runs) {
            const ChildRun run = run_and_kill(folder, random.below(50), random.between(0, 1500));
            kills += run.killed ? 1 : 0;
            promised = std::max(promised, run.promised);
            const std::uint64_t begun = std::max(promised, run.begun);
            ASSERT_LE(begun, promised + 1);

            auto opened = rules.open(folder, kSmallStore);
            ASSERT_TRUE(opened) << opened.error().message;
            Chain& chain = **opened;
            const std::uint64_t tip = chain.tip().height.number();
            ASSERT_TRUE(tip == promised || tip == begun) << tip << " of " << promised << ".." << begun;
            const auto answers = ask_everything(chain, std::span{long_chain().blocks()}.first(tip + 1),
                                                std::span{long_chain().commits()}.first(tip + 1));
            ASSERT_EQ(answers.wrong, "") << test::text(answers.refusals);
            ASSERT_EQ(test::text(answers.refusals), "");
            const Bytes vote = chain.store().votes().record;  // written before its block
            ASSERT_TRUE(chain.store().votes().complete);
            ASSERT_TRUE(vote == vote_of(tip) || vote == vote_of(begun) || (tip == 0 && vote.empty()));
            ASSERT_GE(chain.store().final_block().height().number() + 9, promised);
            for (const Finding& finding : chain.store().findings())
                ASSERT_NE(finding.what.find("write was interrupted"), std::string::npos) << finding.what;
            promised = tip;  // reading it again made it durable
            if (runs % 3 == 0) {
                ASSERT_TRUE(chain.close());
            }
        }
        EXPECT_EQ(promised, kBlocks);
        EXPECT_GE(kills, 3U);
    }
}

}  // namespace
}  // namespace rhizome::store
