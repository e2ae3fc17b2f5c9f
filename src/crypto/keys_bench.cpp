// SPDX-License-Identifier: Apache-2.0
// Signature checks as a block brings them: every one with its own key, digest and signature, all still bytes. The
// anchor is bare libsecp256k1 doing the same parsing and verifying on as many threads.
#include "crypto/keys.h"

#include <barrier>
#include <thread>

#include <secp256k1.h>

#include "runtime/thread_pool.h"
#include "support/bench.h"

namespace rhizome::crypto {
namespace {

/// Enough that keys and signatures do not stay in the first cache with all that verifying touches.
constexpr std::size_t kJobs = 256;

struct Work {
    std::vector<Bytes> ders;
    std::vector<VerifyJob> jobs;
};

const Work& work() {
    static const Work made = [] {
        Work out;
        out.ders.reserve(kJobs);
        for (std::size_t i = 0; i < kJobs; ++i) {
            const Digest digest = sha256(as_bytes(fmt::format("message {}", i)));
            const SecretKey secret = *SecretKey::from_bytes(sha256(as_bytes(fmt::format("secret {}", i))).view());
            out.ders.push_back(sign(secret, digest).to_der());
            out.jobs.push_back({digest, secret.public_key().bytes(), out.ders.back()});
        }
        return out;
    }();
    return made;
}

void must(bool good) { ensure(good, "every signature of the benchmark is good"); }

void bare_verify(const VerifyJob& job) {
    secp256k1_pubkey key;
    secp256k1_ecdsa_signature signature;
    const secp256k1_context* context = secp256k1_context_static;
    must(secp256k1_ec_pubkey_parse(context, &key, job.key.data(), job.key.size()) == 1 &&
         secp256k1_ecdsa_signature_parse_der(context, &signature, job.der.data(), job.der.size()) == 1 &&
         secp256k1_ecdsa_verify(context, &signature, job.digest.view().data(), &key) == 1);
}

/// Two threads that stay alive and each do their half of the jobs whenever told: what one would write by hand.
class BarePair {
public:
    BarePair() {
        for (std::size_t half = 0; half < 2; ++half) {
            threads_.emplace_back([this, half] {
                const std::span<const VerifyJob> mine = std::span{work().jobs}.subspan(half * kJobs / 2, kJobs / 2);
                for (;;) {
                    begin_.arrive_and_wait();
                    if (stopping_) return;
                    for (const VerifyJob& job : mine) bare_verify(job);
                    end_.arrive_and_wait();
                }
            });
        }
    }
    ~BarePair() {
        stopping_ = true;
        begin_.arrive_and_wait();
        for (std::thread& thread : threads_) thread.join();
    }
    BarePair(const BarePair&) = delete;
    BarePair& operator=(const BarePair&) = delete;

    void run() {
        begin_.arrive_and_wait();
        end_.arrive_and_wait();
    }

private:
    std::barrier<> begin_{3}, end_{3};
    bool stopping_ = false;  // written before `begin_`, read after it
    std::vector<std::thread> threads_;
};

// The jobs are made here, before anything is timed: made by the first timed call, their 16 ms once passed for the cost
// of one check, and the subject was then measured in rounds of a single one. The place in the jobs is kept from call to
// call, so that short rounds meet all of them too.
const bool one_thread = bench::add({
    .name = "crypto.ecdsa_verify_1_thread",
    .unit = "verifies",
    .subject =
        [&jobs = work().jobs, next = std::size_t{0}](std::uint64_t times) mutable {
            for (; times > 0; --times, next = (next + 1) % kJobs) {
                must(verify_der(jobs[next].key, jobs[next].digest, jobs[next].der).has_value());
            }
        },
    .anchor =
        [&jobs = work().jobs, next = std::size_t{0}](std::uint64_t times) mutable {
            for (; times > 0; --times, next = (next + 1) % kJobs) bare_verify(jobs[next]);
        },
    .aim = 0.97,
});

const bool two_threads = bench::add({
    .name = "crypto.ecdsa_verify_2_threads",
    .unit = "verifies",
    .subject =
        [&jobs = work().jobs](std::uint64_t times) {
            static runtime::ThreadPool pool{2};
            for (; times > 0; --times) {
                for (const Verdict& verdict : verify_all(jobs, pool)) must(verdict.has_value());
            }
        },
    .anchor =
        [](std::uint64_t times) {
            static BarePair pair;
            for (; times > 0; --times) pair.run();
        },
    .aim = 0.97,
    .units_each = kJobs,
});

}  // namespace
}  // namespace rhizome::crypto
