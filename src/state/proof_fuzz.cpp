// SPDX-License-Identifier: Apache-2.0
// A stranger's proof against a state that is known: it may fail, it may not lie.
#include "state/proof.h"
#include "state/tree.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::state;

namespace {

const StateView& known_state() {
    static const StateView view = [] {
        Batch batch{StateView{}};
        for (const char* text : {"/", "/nodes/n1", "/nodes/n1/report", "/namespaces/a", "/namespaces/a/core/Pod/web",
                                 "/namespaces/a/core/Pod/web-1", "/namespaces/ab", "/chain/voters"})
            batch.put(*Entry::plain(*Path::parse(text), as_bytes(text)));
        return std::move(batch).finish().view;
    }();
    return view;
}

}  // namespace

FUZZ_TARGET(proof_fuzz) {
    if (size == 0) return 0;
    const ByteView bytes = ByteView{data, size}.subspan(1);
    static const Path paths[] = {*Path::parse("/nodes/n1"), *Path::parse("/nodes/n2"), *Path::parse("/chain/voters"),
                                 *Path::parse("/namespaces/a/core/Pod/web-10")};
    const Path& path = paths[data[0] % std::size(paths)];
    const StateView& view = known_state();

    if (const auto proof = decode_proof(bytes)) {
        const Bytes again = encode(*proof);
        ensure(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "there is one form of a proof");
        if (const auto finding = verify(view.root(), path, *proof))
            ensure(std::holds_alternative<Presence>(*finding) == view.contains(path), "an accepted proof is true");
    }
    if (const auto proof = decode_prefix_proof(bytes, 64)) {
        const Bytes again = encode(*proof);
        ensure(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "there is one form of a proof");
        const Prefix prefix = path.subtree();
        if (const auto shown = verify_under(view.root(), prefix, *proof))
            ensure(shown->size() == view.totals(prefix).count, "an accepted proof shows all there is");
    }
    return 0;
}
