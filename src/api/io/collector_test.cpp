// SPDX-License-Identifier: Apache-2.0
#include "api/io/collector.h"

#include <atomic>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/still_backend.h"

namespace rhizome::api {
namespace {

/// Counts how often somebody looks, and has nothing to show any more to one who looks without end.
class CountingBackend final : public test::StillBackend {
public:
    Live& live() override {
        if (++looks == kLooksMax) forget_all();
        return StillBackend::live();
    }
    /// An object whose one owner is gone.
    void write_orphan(std::string_view version, std::string_view kind, std::string_view name,
                      std::string_view more = "") {
        write(fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"namespace":"default","name":"{}",)"
                          R"("uid":"u-{}","ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"gone",)"
                          R"("uid":"gone"}}]}}{}}})",
                          version, kind, name, name, more));
    }
    static constexpr unsigned kLooksMax = 5'000;
    std::atomic<unsigned> looks = 0;
};

class CollectorTest : public ::testing::Test {
protected:
    CollectorTest() { backend_.answer = Progress{.stage = Stage::Final}; }
    /// Until it has nothing to do but wait.
    void collect() {
        backend_.looks = 0;
        const stream::Strand strand = io_.make_strand();
        const Collector collector{service_, strand};
        // Between two parts of its work it lets others go first.
        for (int part = 0; part < 100; ++part) stream::run_on(strand, [] {});
    }
    CountingBackend backend_;
    SharedService service_ = make_service(backend_, {});
    stream::IoContext io_{{.threads = 1}};
};

TEST_F(CollectorTest, WaitsBeforeItLooksAgainAtWhatIsOfNoKindThatIsServed) {
    backend_.write_orphan("example.com/v1", "Widget", "w");
    collect();
    EXPECT_LT(backend_.looks, 100u);
    EXPECT_TRUE(backend_.submitted.empty());
}

TEST_F(CollectorTest, ComesToWhatStandsBehindManyThingsThatNobodyCanDo) {
    for (int i = 0; i < 200; ++i) backend_.write_orphan("a.example.com/v1", "Widget", fmt::format("w{}", i));
    backend_.write_orphan("rbac.authorization.k8s.io/v1", "Role", "last", R"(,"rules":[])");
    collect();
    ASSERT_EQ(backend_.submitted.size(), 1u);
    EXPECT_EQ(backend_.submitted[0]->outputs.front().resource.name, "last");
}

TEST_F(CollectorTest, EndsWhileWhatItAskedForIsUnderWay) {
    backend_.answer.reset();
    backend_.write_orphan("rbac.authorization.k8s.io/v1", "Role", "last", R"(,"rules":[])");
    const stream::Strand strand = io_.make_strand();
    auto collector = std::make_unique<Collector>(make_service(backend_, {.wait_max = seconds{86'400}}), strand, "24h");
    for (int part = 0; part < 100; ++part) stream::run_on(strand, [] {});
    EXPECT_EQ(backend_.submitted.size(), 1u);
    collector.reset();  // or it would be waiting for a day
}

}  // namespace
}  // namespace rhizome::api
