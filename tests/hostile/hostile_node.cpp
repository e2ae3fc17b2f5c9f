// SPDX-License-Identifier: Apache-2.0
// A member that does not keep to the rules, for tests: what the real program has no switch for.
//
//     hostile_node censor DATA LISTEN            seals, but takes nobody's transactions
//     hostile_node equivocate DATA LISTEN PEER   seals every empty block twice; the twin goes to PEER under a false
//     name
//
// DATA is the directory of a member that the real program made. Runs until SIGTERM, or its parent is gone.
#include <signal.h>
#include <sys/prctl.h>

#include <iostream>
#include <map>

#include "consensus/judge.h"
#include "node/daemon.h"
#include "node/identity.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"
#include "support/stranger.h"

using namespace rhizome;

namespace {

/// The twin of a block of this machine's own, when it has one: without transactions only the time need differ.
std::optional<core::Message> twin_of(const store::Store& store, const ledger::BlockHash& hash,
                                     const consensus::KeySigner& signer) {
    auto block = store.block(hash);
    if (!block || !block->txs.empty()) return std::nullopt;
    const auto proposer = consensus::proposer_in(block->seal);
    if (!proposer || *proposer != signer.key()) return std::nullopt;
    block->header.time += milliseconds{1};
    consensus::sign(*block, signer);
    return core::Message{core::NewBlock{std::make_shared<const ledger::Block>(*std::move(block))}};
}

int run(const std::vector<std::string>& words) {
    const bool censors = words.size() == 3 && words[0] == "censor";
    const bool equivocates = words.size() == 4 && words[0] == "equivocate";
    if (!censors && !equivocates) {
        std::cerr << "usage: hostile_node censor DATA LISTEN | equivocate DATA LISTEN PEER\n";
        return 2;
    }
    const runtime::Interrupt interrupt;
    runtime::StreamSink sink{std::cerr, runtime::LogForm::Text};
    node::DaemonOptions options;
    options.data = words[1];
    options.peers.listen = {*stream::Address::parse(words[2])};
    if (equivocates) options.peers.seeds = {*stream::Address::parse(words[3])};
    options.log = Log{sink, {.level = LogLevel::Info, .debug_areas = {}}};
    if (censors) options.core.pool = {.bytes_max = 0, .count_max = 0, .sender_bytes_max = 0};
    auto daemon = node::Daemon::start(std::move(options));
    if (!daemon) {
        std::cerr << daemon.error().message << '\n';
        return 1;
    }
    std::cout << (*daemon)->peers().addresses().front().text() << std::endl;
    std::unique_ptr<test::Stranger> stranger;
    std::shared_ptr<void> watching;
    const auto identity = node::load_identity(words[1]);
    stream::IoContext io{{.threads = 1}};
    const consensus::KeySigner signer{identity->keys};
    if (equivocates) {
        node::Host& host = (*daemon)->host();
        stranger = std::make_unique<test::Stranger>(io, host.view()->chain, *stream::Address::parse(words[3]));
        watching = host.watch([&](const core::Notice& notice, const node::NodeView&) {
            const auto* moved = std::get_if<core::TipMoved>(&notice);
            if (moved == nullptr) return;
            for (const ledger::BlockHash& hash : moved->applied)
                if (const auto twin = twin_of(host.store(), hash, signer)) stranger->tell(*twin);
        });
    }
    while (!interrupt.asked() && !(*daemon)->wait_for_end(milliseconds{100})) {
    }
    watching.reset();
    (void)(*daemon)->stop();
    stranger.reset();  // while its threads are there
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    return run({argv + 1, argv + argc});
}
