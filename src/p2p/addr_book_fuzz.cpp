// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "p2p/addr_book.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(addr_book_fuzz) {
    const p2p::AddrBook::Key key{1, 2, 3};
    const auto book = p2p::AddrBook::decode({data, size}, key);
    if (!book) return 0;
    ensure(book->size() <= p2p::AddrBook::kSlots, "a book is bounded");
    const Bytes written = book->encode();
    const auto again = p2p::AddrBook::decode(written, key);
    ensure(again && again->encode() == written, "what a book writes it reads");
    Random random{1};
    (void)book->choose(random, Time{}, [](const p2p::KnownAddress&) { return true; });
    return 0;
}
