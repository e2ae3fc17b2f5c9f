// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "p2p/addr_book.h"
#include "support/seed.h"

namespace rhizome::p2p {
namespace {

const Time kBookTime = Time::from_unix_seconds(1'800'000'000);
const AddrBook::Fits kAnyone = [](const KnownAddress&) { return true; };

AddrBook::Key some_key(Random& random) {
    AddrBook::Key key;
    random.fill(key);
    return key;
}
/// The attacker's network is 66.66/16; everybody else lives elsewhere.
Address attacker(Random& random) {
    return Address::v4(66, 66, static_cast<std::uint8_t>(random.next()), static_cast<std::uint8_t>(random.next()),
                       7700);
}
Address anywhere(Random& random) {
    return Address::v4(static_cast<std::uint8_t>(128 + random.below(60)), static_cast<std::uint8_t>(random.next()),
                       static_cast<std::uint8_t>(random.next()), static_cast<std::uint8_t>(random.next()), 7700);
}
bool is_attackers(const Address& address) { return address.ip[12] == 66; }

/// 200 honest nodes told by 20 honest ones; then the flood. How many of 1,000 choices are honest.
template <class Flood>
std::size_t honest_choices(std::uint64_t seed, Flood flood) {
    Random random{seed};
    AddrBook book{some_key(random)};
    std::vector<Address> tellers;
    for (int i = 0; i < 20; ++i) tellers.push_back(anywhere(random));
    std::size_t known = 0;
    for (int i = 0; i < 200; ++i) known += book.add(anywhere(random), tellers[random.below(20)], kBookTime) ? 1 : 0;
    flood(book, random);
    EXPECT_LE(book.size(), AddrBook::kSlots);
    EXPECT_GT(known, 150u);
    std::size_t honest = 0;
    for (int i = 0; i < 1'000; ++i) honest += is_attackers(book.choose(random, kBookTime, kAnyone)->address) ? 0 : 1;
    return honest;
}

TEST(AddrBookProperty, OneNetworkFromOneTellerGetsAlmostNothing) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::size_t honest = honest_choices(test::seed_for(seed), [](AddrBook& book, Random& random) {
            const Address teller = attacker(random);
            for (int i = 0; i < 10'000; ++i) book.add(attacker(random), teller, kBookTime);
        });
        EXPECT_GE(honest, 950u) << "one bucket of 64, seed " << seed;
    }
}

TEST(AddrBookProperty, OneNetworkFromManyTellersGetsAnEighth) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::size_t honest = honest_choices(test::seed_for(seed), [](AddrBook& book, Random& random) {
            for (int i = 0; i < 10'000; ++i) book.add(attacker(random), anywhere(random), kBookTime);
        });
        EXPECT_GE(honest, 800u) << "seven rows of eight, less what chance takes, seed " << seed;
    }
}

TEST(AddrBookProperty, OneTellerOfManyNetworksGetsAnEighth) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::size_t honest = honest_choices(test::seed_for(seed), [](AddrBook& book, Random& random) {
            const Address teller = attacker(random);
            for (int i = 0; i < 10'000; ++i) {
                // Any network at all, marked by its first byte.
                Address lie = anywhere(random);
                lie.ip[12] = 66;
                book.add(lie, teller, kBookTime);
            }
        });
        EXPECT_GE(honest, 800u) << "seven columns of eight, less what chance takes, seed " << seed;
    }
}

TEST(AddrBookProperty, HowManyAddressesComeItStaysBounded) {
    Random random{test::seed_for(1)};
    AddrBook book{some_key(random)};
    for (int i = 0; i < 100'000; ++i) {
        Address address;
        random.fill(address.ip);
        address.port = static_cast<std::uint16_t>(random.next());
        book.add(address, anywhere(random), kBookTime + seconds{i});
        if (random.chance(1, 10)) book.note_good(address, {}, kBookTime + seconds{i});
        if (random.chance(1, 10)) book.note_failed(address, random, kBookTime + seconds{i});
    }
    EXPECT_LE(book.size(), AddrBook::kSlots);
    EXPECT_LE(book.encode().size(), 128 * AddrBook::kSlots);
    const auto read = AddrBook::decode(book.encode(), some_key(random));
    EXPECT_TRUE(read);
}

}  // namespace
}  // namespace rhizome::p2p
