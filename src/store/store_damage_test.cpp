// SPDX-License-Identifier: Apache-2.0
// Damaged, lost, exchanged and half-copied files: the store says so and names the file, or answers as before. It never
// answers otherwise.
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/files.h"
#include "store/chain.h"
#include "store/chain_index.h"
#include "support/chain_answers.h"
#include "support/crash_disk.h"
#include "support/same_disk.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using ledger::Height;
using test::StoredChain;
using test::TempFolder;

constexpr Options kSmallForDamage{.segment_bytes = 4u << 10, .checkpoint_bytes = 6u << 10};
const Bytes kDamagedVote{9, 8, 7};

std::string content(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
}

void put(const fs::path& path, std::string_view bytes) {
    std::ofstream out{path, std::ios::binary | std::ios::trunc};
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A small chain with everything in it, as files that are copied for each trial.
class Damaged : public ::testing::Test {
protected:
    void make(bool orderly) {
        for (int i = 0; i < 10; ++i) world.grow(2);
        Store& store = world.chain().store();
        ASSERT_TRUE(store.record_vote(kDamagedVote));
        ASSERT_TRUE(store.mark_final(store.info_at(Height{6})->hash));
        ASSERT_TRUE(store.put_note("peers", "alice", as_bytes("10.0.0.1")));
        ASSERT_TRUE(store.settle(true));
        fs::copy(home / "data" / "log", home / "earlier", fs::copy_options::recursive);
        for (int i = 0; i < 3; ++i) {
            world.grow(1);
            ASSERT_TRUE(store.sync());
        }
        if (orderly) {
            ASSERT_TRUE(world.close());
        } else {
            world.kill();
        }
        list();
    }
    void list() {
        files.clear();
        for (const auto& entry : fs::recursive_directory_iterator(home / "data"))
            if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), home / "data"));
        std::sort(files.begin(), files.end());
    }

    /// A fresh copy to spoil. It stands for the same disk, so the index is believed if it was.
    void copy() {
        fs::remove_all(trial);
        fs::copy(home / "data", trial, fs::copy_options::recursive);
        test::take_for_the_same_disk(trial);
    }
    void flip(const fs::path& file, std::uint64_t offset, unsigned mask) {
        std::string bytes = content(trial / file);
        bytes[offset] = static_cast<char>(static_cast<unsigned char>(bytes[offset]) ^ mask);
        put(trial / file, bytes);
    }

    struct Outcome {
        std::optional<Error> refused{};  ///< opening failed
        std::vector<Error> errors{};     ///< of single questions, and of verifying
        std::vector<Finding> findings{};
        std::uint64_t tip = 0;
        std::string wrong{};
        [[nodiscard]] bool silent() const { return !refused && errors.empty() && findings.empty(); }
        [[nodiscard]] std::string text() const {
            std::string all = refused ? fmt::format("refused: {}\n", refused->message) : "";
            all += test::text(errors);
            for (const Finding& finding : findings)
                all += fmt::format("found in {} at {}: {}\n", finding.file.native(), finding.offset, finding.what);
            return all;
        }
        /// Whether somebody is told about this file, with a place in it.
        [[nodiscard]] bool names(const fs::path& file) const {
            const auto says = [&](const std::string& text) {
                return text.find(file.native()) != std::string::npos && text.find("offset") != std::string::npos;
            };
            if (refused && says(refused->message)) return true;
            for (const Error& error : errors)
                if (says(error.message)) return true;
            for (const Finding& finding : findings)
                if (finding.file.native().find(file.native()) != std::string::npos || says(finding.what)) return true;
            return false;
        }
    };

    /// Opens the copy and asks it everything.
    Outcome look() {
        Outcome outcome;
        auto opened = Chain::open(trial, world.rules(), world.parallel(), kSmallForDamage);
        if (!opened) {
            outcome.refused = opened.error();
            return outcome;
        }
        Chain& chain = **opened;
        outcome.findings = chain.store().findings();
        outcome.tip = chain.tip().height.number();
        const auto& blocks = world.memory().blocks();
        if (outcome.tip >= blocks.size()) {
            outcome.wrong = "a longer chain than there was";
            return outcome;
        }
        auto answers = test::ask_everything(chain, std::span{blocks}.first(outcome.tip + 1),
                                            std::span{world.memory().commits()}.first(outcome.tip + 1));
        outcome.errors = std::move(answers.refusals);
        outcome.wrong = std::move(answers.wrong);
        const auto report = verify(chain.store(), world.rules(), world.parallel());
        if (!report)
            outcome.errors.push_back(report.error());
        else if (report->fault)
            outcome.errors.emplace_back(ErrorKind::Corrupt, report->fault->why);
        if (chain.store().votes().record != kDamagedVote) outcome.wrong = "another vote";
        if (!chain.store().votes().complete && !outcome.names("place")) outcome.wrong = "votes that are lost silently";
        if (chain.store().final_block().height() != Height{6}) outcome.wrong = "another final block";
        const auto note = chain.store().note("peers", "alice");
        if (note && *note != Bytes{'1', '0', '.', '0', '.', '0', '.', '1'}) outcome.wrong = "another note";
        // Notes are in the index only, so they go with it, which is told.
        if (!note && outcome.findings.empty()) outcome.errors.push_back(note.error());
        return outcome;
    }

    /// The rule for whatever happened to `file`.
    void expect_told_or_equal(const fs::path& file, const Outcome& outcome) {
        EXPECT_EQ(outcome.wrong, "") << outcome.text();
        EXPECT_TRUE(!outcome.silent() || outcome.tip == tip());
        // What is found about an index that the test took away says nothing about the log.
        const bool equal = !outcome.refused && outcome.errors.empty() && outcome.tip == tip();
        if (equal && (outcome.silent() || file.extension() == ".log")) return;
        EXPECT_TRUE(outcome.names(file)) << outcome.text();
        std::vector<Error> errors = outcome.errors;
        if (outcome.refused) errors.push_back(*outcome.refused);
        for (const Error& error : errors) {
            const bool of_format =
                file == "format" && (error.kind == ErrorKind::Unsupported || error.kind == ErrorKind::NotFound);
            EXPECT_TRUE(error.kind == ErrorKind::Corrupt || of_format) << name(error.kind) << ": " << error.message;
        }
    }
    [[nodiscard]] std::uint64_t tip() { return world.memory().tip().height.number(); }

    TempFolder home{test::fast_place()};
    fs::path trial = home / "trial";
    StoredChain world{home / "data", kSmallForDamage};
    std::vector<fs::path> files;
};

/// Where to strike a file: all places in its first bytes and last ones, around everything that begins, and in between.
std::vector<std::uint64_t> places(const std::string& bytes, bool is_log, std::uint64_t step) {
    std::set<std::uint64_t> at;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(bytes.size(), 64); ++i) at.insert(i);
    for (std::uint64_t i = 0; i < bytes.size(); i += step) at.insert(i);
    if (!bytes.empty()) at.insert(bytes.size() - 1);
    std::uint64_t offset = kSegmentHeadBytes;
    const auto head = decode_segment_head(as_bytes(bytes));
    while (is_log && head) {
        const auto record = decode_record(as_bytes(bytes).subspan(offset), head->salt);
        if (!record) break;
        const std::uint64_t next = offset + record_bytes(record->head.length);
        for (const std::uint64_t field : {0U, 4U, 5U, 8U, 11U, 12U, 16U, 24U, 32U, 40U, 47U, 48U})
            at.insert(offset + field);
        at.insert({next - 1, next - 15, offset + kRecordHeadBytes + record->head.length / 2});
        offset = next;
    }
    if (is_log) at.insert({offset, offset + 1, offset + 47, offset + 48});
    while (!at.empty() && *at.rbegin() >= bytes.size()) at.erase(std::prev(at.end()));
    return {at.begin(), at.end()};
}

TEST_F(Damaged, AnyBitInAnyFileOfAClosedStore) {
    ASSERT_NO_FATAL_FAILURE(make(true));
    ASSERT_GE(files.size(), 8U);
    std::size_t trials = 0;
    std::size_t told = 0;
    for (const fs::path& file : files) {
        const std::string bytes = content(home / "data" / file);
        const bool is_log = file.extension() == ".log";
        const std::uint64_t step = is_log ? 97 : file.filename() == "data.mdb" ? 9'001 : 1;
        unsigned mask = 1;
        for (const std::uint64_t offset : places(bytes, is_log, file.filename() == "lock.mdb" ? 2'048 : step)) {
            mask = mask == 128 ? 1 : mask * 2;
            SCOPED_TRACE(fmt::format("{} at {}, xor {:#x}", file.native(), offset, mask));
            ASSERT_NO_FATAL_FAILURE(copy());
            flip(file, offset, mask);
            const Outcome outcome = look();
            expect_told_or_equal(file, outcome);
            if (HasFailure()) return;
            ++trials;
            told += outcome.silent() ? 0 : 1;
        }
    }
    EXPECT_GT(trials, 700U);
    EXPECT_GT(told, trials / 2);
}

TEST_F(Damaged, AnyBitInTheLogOfAKilledStore) {
    ASSERT_NO_FATAL_FAILURE(make(false));
    std::size_t cut = 0;
    for (const fs::path& file : files) {
        if (file.extension() != ".log") continue;
        unsigned mask = 1;
        for (const std::uint64_t offset : places(content(home / "data" / file), true, 131)) {
            mask = mask == 128 ? 1 : mask * 2;
            for (const bool index_lost : {false, true}) {
                SCOPED_TRACE(
                    fmt::format("{} at {}, xor {:#x}, index lost: {}", file.native(), offset, mask, index_lost));
                ASSERT_NO_FATAL_FAILURE(copy());
                if (index_lost) fs::remove(trial / "index" / "data.mdb");
                flip(file, offset, mask);
                const Outcome outcome = look();
                expect_told_or_equal(file, outcome);
                if (!outcome.refused && outcome.tip < tip()) {
                    // Only what came last can look like a write that was never finished.
                    EXPECT_EQ(outcome.tip, tip() - 1);
                    ++cut;
                }
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_GT(cut, 0U);
}

TEST_F(Damaged, FilesCutShortOrMissing) {
    for (const bool orderly : {true, false}) {
        if (orderly) {
            ASSERT_NO_FATAL_FAILURE(make(true));
        } else {
            world.reopen();
            world.kill();
            list();
        }
        for (const fs::path& file : files) {
            const std::uint64_t size = fs::file_size(home / "data" / file);
            // A map of a file that somebody else has cut is LMDB's, and only its own end is told by its seal.
            if (!orderly && file.parent_path() == "index") continue;
            for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{70}, size / 3, size / 2,
                                             size - std::min<std::uint64_t>(size, 1)}) {
                if (left >= size) continue;
                SCOPED_TRACE(fmt::format("{} cut to {} of {}, orderly: {}", file.native(), left, size, orderly));
                ASSERT_NO_FATAL_FAILURE(copy());
                fs::resize_file(trial / file, left);
                expect_told_or_equal(file, look());
                if (HasFailure()) return;
            }
            SCOPED_TRACE(fmt::format("{} missing, orderly: {}", file.native(), orderly));
            ASSERT_NO_FATAL_FAILURE(copy());
            fs::remove(trial / file);
            const Outcome outcome = look();
            EXPECT_EQ(outcome.wrong, "") << outcome.text();
            if (file == "format") {
                ASSERT_TRUE(outcome.refused);
                EXPECT_EQ(outcome.refused->kind, ErrorKind::NotFound);
            } else if (file == "place") {
                EXPECT_TRUE(outcome.names(file)) << outcome.text();
            } else if (file.extension() == ".log" && !outcome.refused && outcome.silent()) {
                EXPECT_EQ(outcome.tip, tip());  // the one that was prepared and not yet used
            }
            if (HasFailure()) return;
        }
    }
}

TEST_F(Damaged, ALostFolderIsToldOrMadeAgain) {
    ASSERT_NO_FATAL_FAILURE(make(true));
    ASSERT_NO_FATAL_FAILURE(copy());
    fs::remove_all(trial / "index");
    Outcome outcome = look();
    EXPECT_FALSE(outcome.refused) << outcome.text();
    EXPECT_EQ(outcome.wrong, "");
    EXPECT_EQ(outcome.findings.size(), 1U);
    EXPECT_EQ(outcome.tip, tip());

    ASSERT_NO_FATAL_FAILURE(copy());
    fs::remove_all(trial / "log");
    outcome = look();
    ASSERT_TRUE(outcome.refused);
    EXPECT_EQ(outcome.refused->kind, ErrorKind::Corrupt) << outcome.text();
    EXPECT_NE(outcome.refused->message.find((trial / "log").native()), std::string::npos) << outcome.text();
}

TEST_F(Damaged, SegmentsThatDoNotBelongWhereTheyStand) {
    // An older copy of every segment, from when the chain was shorter.
    for (int i = 0; i < 3; ++i) world.grow(1);
    ASSERT_TRUE(world.chain().store().settle(false));
    fs::copy(home / "data" / "log", home / "older", fs::copy_options::recursive);
    ASSERT_NO_FATAL_FAILURE(make(true));
    std::vector<fs::path> segments;
    for (const fs::path& file : files)
        if (file.extension() == ".log") segments.push_back(file);
    ASSERT_GE(segments.size(), 4U);
    const auto spoilt = [&](const fs::path& file, const std::function<void()>& spoil) {
        for (const bool index_lost : {false, true}) {
            SCOPED_TRACE(fmt::format("{}, index lost: {}", file.native(), index_lost));
            ASSERT_NO_FATAL_FAILURE(copy());
            spoil();
            if (index_lost) fs::remove_all(trial / "index");
            const Outcome outcome = look();
            EXPECT_EQ(outcome.wrong, "") << outcome.text();
            if (content(trial / file) == content(home / "data" / file) && outcome.silent()) continue;
            EXPECT_TRUE(outcome.refused || !outcome.errors.empty() || outcome.tip == tip()) << outcome.text();
        }
    };
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        SCOPED_TRACE("swapped");
        ASSERT_NO_FATAL_FAILURE(spoilt(segments[i], [&] {
            fs::rename(trial / segments[i], trial / "x");
            fs::rename(trial / segments[i + 1], trial / segments[i]);
            fs::rename(trial / "x", trial / segments[i + 1]);
        }));
        ASSERT_NO_FATAL_FAILURE(copy());
        fs::copy_file(trial / segments[i + 1], trial / segments[i], fs::copy_options::overwrite_existing);
        const Outcome twice = look();
        ASSERT_TRUE(twice.refused);
        EXPECT_EQ(twice.refused->kind, ErrorKind::Corrupt);
        EXPECT_TRUE(twice.names(segments[i])) << twice.text();
    }
    for (const fs::path& segment : segments) {
        SCOPED_TRACE("an older copy");
        const fs::path older = home / "older" / segment.filename();
        if (!fs::exists(older) || content(older) == content(home / "data" / segment)) continue;
        ASSERT_NO_FATAL_FAILURE(
            spoilt(segment, [&] { fs::copy_file(older, trial / segment, fs::copy_options::overwrite_existing); }));
    }
    // Of the last segment, where no later record says what is missing: reading its blocks tells.
    for (const fs::path& segment : segments) {
        const fs::path earlier = home / "earlier" / segment.filename();
        if (!fs::exists(earlier) || content(earlier) == content(home / "data" / segment)) continue;
        ASSERT_NO_FATAL_FAILURE(copy());
        fs::copy_file(earlier, trial / segment, fs::copy_options::overwrite_existing);
        const Outcome outcome = look();
        EXPECT_EQ(outcome.wrong, "");
        EXPECT_TRUE(outcome.names(segment)) << outcome.text();
    }
    TempFolder elsewhere{test::fast_place()};
    auto made = [&] {
        test::TestChain memory{R"({"trust":"byzantine"})"};
        return Store::create(elsewhere / "data", {.block = memory.blocks().front(), .commit = memory.commits().front()},
                             kSmallForDamage);
    }();
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE((*made)->close());
    ASSERT_NO_FATAL_FAILURE(copy());
    fs::copy_file(elsewhere / "data" / segments[0], trial / segments[0], fs::copy_options::overwrite_existing);
    const Outcome foreign = look();
    ASSERT_TRUE(foreign.refused);
    EXPECT_EQ(foreign.refused->kind, ErrorKind::Corrupt);
    EXPECT_TRUE(foreign.names(segments[0])) << foreign.text();
    EXPECT_NE(foreign.refused->message.find("another chain"), std::string::npos);
}

// ---- a directory copied while a node writes into it ----------------------------------------------------------------

TEST(CopiedStores, OpenToAPrefixOrAreRefused) {
    const TempFolder home{test::fast_place()};
    test::TestChain memory;
    test::grow_namespace(memory);
    while (memory.blocks().size() < 120) test::grow(memory, "main", 2);
    ledger::Rules rules;
    test::AnySeal judge;
    Inline parallel;
    const ledger::BlockRules block_rules{.rules = rules, .judge = judge};
    std::size_t opened_count = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const fs::path data = home / fmt::format("data-{}", seed);
        const fs::path copied = home / fmt::format("copy-{}", seed);
        auto made = Store::create(data, {.block = memory.blocks().front(), .commit = memory.commits().front()},
                                  kSmallForDamage);
        ASSERT_TRUE(made) << made.error().message;
        Random random{seed};
        std::atomic<std::size_t> height{0};
        const std::size_t begin_at = random.below(60);
        std::jthread writer{[&] {
            for (std::size_t i = 1; i < memory.blocks().size(); ++i) {
                EXPECT_TRUE((*made)->append(memory.blocks()[i], {}, memory.commits()[i]));
                EXPECT_TRUE((*made)->sync());
                EXPECT_TRUE(i % 20 != 0 || (*made)->settle(i % 40 == 0));
                height.store(i);
                height.notify_all();
            }
        }};
        for (std::size_t now = height.load(); now < begin_at; now = height.load()) height.wait(now);
        std::vector<fs::path> files;
        for (const char* part : {"", "log", "index"}) {
            std::error_code gone;  // files come and go meanwhile: a half-made segment gets its name
            for (fs::directory_iterator entry{data / part, gone}, end; !gone && entry != end; entry.increment(gone)) {
                std::error_code ignored;
                if (entry->is_regular_file(ignored)) files.push_back(fs::path{part} / entry->path().filename());
            }
        }
        random.shuffle(files);
        fs::create_directories(copied / "log");
        fs::create_directories(copied / "index");
        for (const fs::path& file : files) {
            put(copied / file, content(data / file));
            // Others run in between, so that files are of different times.
            const std::size_t seen = height.load();
            if (random.chance(1, 2) && seen + 1 < memory.blocks().size()) height.wait(seen);
        }
        writer.join();
        made->reset();

        auto opened = Chain::open(copied, block_rules, parallel, kSmallForDamage);
        if (!opened) {
            EXPECT_EQ(opened.error().kind, ErrorKind::Corrupt) << opened.error().message;
            EXPECT_NE(opened.error().message.find(copied.native()), std::string::npos) << opened.error().message;
            continue;
        }
        ++opened_count;
        EXPECT_FALSE((*opened)->store().votes().complete);
        const std::size_t tip = (*opened)->tip().height.number();
        ASSERT_LT(tip, memory.blocks().size());
        const auto answers = test::ask_everything(**opened, std::span{memory.blocks()}.first(tip + 1),
                                                  std::span{memory.commits()}.first(tip + 1));
        EXPECT_EQ(answers.wrong, "") << test::text(answers.refusals);
        EXPECT_EQ(test::text(answers.refusals), "");
        const auto report = verify((*opened)->store(), block_rules, parallel);
        ASSERT_TRUE(report);
        EXPECT_FALSE(report->fault) << report->fault->why;
        opened->reset();
        fs::remove_all(data);
        fs::remove_all(copied);
    }
    EXPECT_GT(opened_count, 0U);
}

}  // namespace
}  // namespace rhizome::store
