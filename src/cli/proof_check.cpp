// SPDX-License-Identifier: Apache-2.0
#include "cli/proof_check.h"

#include <fmt/core.h>

#include "cli/input.h"
#include "cli/text.h"
#include "ledger/proof_files.h"

namespace rhizome::cli {

Option check_option() {
    return {.name = "check",
            .value_name = "FILE",
            .help = "check this proof instead of making one; - for stdin",
            .completion = Completion::files()};
}

Option block_option() {
    return {.name = "block", .value_name = "HASH", .help = "with --check: the block hash that you trust"};
}

Option anchor_option() {
    return {.name = "anchor",
            .value_name = "FILE",
            .help = "with --check: an anchor of the same height that you trust",
            .completion = Completion::files()};
}

Result<Trust> trust_of(Invocation& call, const ledger::ChainId& chain, const ledger::Header& header) {
    Trust trust = Trust::Unknown;
    const auto is = hash_of(header);
    if (const auto text = call.if_text("block")) {
        const auto hash = ledger::BlockHash::from_hex(*text);
        if (!hash)
            return fail(ErrorKind::Usage,
                        fmt::format("--block {} is no block hash: 64 hexadecimal digits", printable(*text)));
        if (*hash != is)
            return fail(ErrorKind::Denied, fmt::format("the proof leads to block {}, not to {}", is, *hash));
        trust = Trust::Named;
    }
    if (const auto file = call.if_text("anchor")) {
        TRY(const std::string text, read_input(call.console, *file, ledger::kProofFileBytesMax));
        const auto anchor = ledger::anchor_from_json(text);
        if (!anchor) return Fail{with_context(printable(*file), anchor.error())};
        if (anchor->chain != chain)
            return fail(ErrorKind::Denied,
                        fmt::format("the anchor is of chain {}, the proof of {}", anchor->chain, chain));
        if (anchor->height != header.height)
            return fail(ErrorKind::Denied,
                        fmt::format("the anchor is of height {}, the proof of {}: ask for an anchor of that height",
                                    anchor->height, header.height));
        if (anchor->block != is)
            return fail(ErrorKind::Denied,
                        fmt::format("the proof leads to block {}, the anchor says {}", is, anchor->block));
        trust = Trust::Named;
    }
    return trust;
}

void add_block(json::Object& data, const ledger::ChainId& chain, const ledger::Header& header, Trust trust) {
    data.set("block", hash_of(header).hex());
    data.set("height", header.height.number());
    data.set("time", to_rfc3339(header.time, Precision::Millis));
    data.set("chainId", chain.hex());
    data.set("trusted", trust == Trust::Named);
}

void add_block(Fields& fields, const ledger::ChainId& chain, const ledger::Header& header, Trust trust) {
    fields.add("block", trust == Trust::Named ? Cell{hash_of(header).hex() + " (the one you trust)"}
                                              : Cell{hash_of(header).hex() + " (compare it with one you trust)"});
    fields.add("height", fmt::format("{}", header.height));
    fields.add("time", to_rfc3339(header.time, Precision::Millis));
    fields.add("chain id", chain.hex() + " (as the file says)");
}

}  // namespace rhizome::cli
