#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which modules a change reaches: rows of a changed file and who is reached, in a small tree and in this one."""
import pathlib
import tempfile
import unittest

from reachable_modules import Tree, above, parse_layers

FILES = {
    "src/layers.txt": """# a comment: not a module
base:
crypto: base
ledger: crypto base
market: ledger
net: base
node: market ledger crypto base net
market/io: net
acts: net node
""",
    "src/base/CMakeLists.txt": "rhizome_module(base TESTS a_test.cpp FUZZ a_fuzz.cpp)",
    "src/base/a_test.cpp": '#include "base/a.h"\nauto file = own_vectors("json/a.json");\n',
    "src/base/a_fuzz.cpp": '#include "base/a.h"\n',
    "src/crypto/CMakeLists.txt": "rhizome_module(crypto TESTS k_test.cpp SOURCES ${CMAKE_SOURCE_DIR}/docs/spec/facts.json)",
    "src/crypto/k_test.cpp": '#include "support/chain.h"\n#include "crypto/k.h"\n',
    "src/ledger/CMakeLists.txt": "rhizome_module(ledger TESTS l_test.cpp)",
    "src/ledger/l_test.cpp": '#include "crypto/k.h"\n',
    "src/market/CMakeLists.txt": "rhizome_module(market)",
    "src/market/io/CMakeLists.txt": "rhizome_module(market_io ACTS TESTS t_test.cpp)",
    "src/net/CMakeLists.txt": "rhizome_module(net ACTS TESTS n_test.cpp FUZZ n_fuzz.cpp)",
    "src/net/n_fuzz.cpp": "",
    "src/node/CMakeLists.txt": "rhizome_module(node ACTS TESTS o_test.cpp)",
    "tests/support/chain.h": '#include "ledger/l.h"\n#include "support/chain.h"\n',
}
ALL = "base crypto ledger market net node market/io"


class SmallTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.tree = Tree(root)

    def test_a_change_reaches_all_that_may_include_it(self):
        for changed, modules, tests in [
            # changed; modules that it reaches; modules whose tests it reaches
            ("src/base/a.h", ALL, ALL),
            ("src/ledger/l.cpp", "ledger market node market/io", "crypto ledger market node market/io"),
            ("src/ledger/CMakeLists.txt", "ledger market node market/io", "crypto ledger market node market/io"),
            ("src/market/m.cpp", "market node market/io", "market node market/io"),
            ("src/market/io/m.cpp", "node market/io", "node market/io"),
            ("src/net/n.cpp", "net node market/io", "net node market/io"),
            ("src/node/o.cpp", "node", "node"),
            ("src/crypto/k_test.cpp", "", "crypto"),  # a test reaches its own program
            ("src/crypto/k_bench.cpp", "", ""),
            ("src/crypto/README.md", "", ""),
            ("docs/spec/chain.md", "", ""),
            ("docs/spec/facts.json", "crypto ledger market node market/io", "crypto ledger market node market/io"),
            ("tests/fuzz/a_fuzz/long", "", "base"),
            ("tests/vectors/json/a.json", "", "base"),
            ("tests/vectors/crypto/k.json", "", "crypto"),
            ("tests/vectors/unheard/of.json", ALL, ALL),
            ("tests/support/chain.h", ALL, ALL),
            ("tests/guards/guards_test.cpp", "", ""),
            ("cmake/RhizomeModule.cmake", ALL, ALL),
            ("CMakePresets.json", ALL, ALL),
            ("run", ALL, ALL),
            ("src/layers.txt", ALL, ALL),
            ("src/unheard/of.cpp", ALL, ALL),
            ("unheard.of", ALL, ALL),
        ]:
            with self.subTest(changed):
                self.assertEqual(self.tree.reachable([changed]), (modules.split(), tests.split()))

    def test_nothing_reaches_nothing_and_two_reach_both(self):
        self.assertEqual(self.tree.reachable([]), ([], []))
        self.assertEqual(self.tree.reachable(["README.md", "src/node/o.cpp", "src/base/a_test.cpp"]),
                         (["node"], ["base", "node"]))

    def test_fuzz_targets_are_those_of_the_module(self):
        self.assertEqual(self.tree.fuzz_targets("base"), ["a_fuzz"])
        self.assertEqual(self.tree.fuzz_targets("ledger"), [])


class ThisTree(unittest.TestCase):
    def setUp(self):
        self.tree = Tree(pathlib.Path(__file__).resolve().parent.parent)

    def test_the_ledger_reaches_the_simulator_and_not_what_is_below(self):
        modules, tests = self.tree.reachable(["src/ledger/tx.cpp"])
        self.assertTrue({"ledger", "consensus", "core", "sim", "node", "cli"} <= set(modules))
        self.assertFalse({"base", "crypto"} & set(tests))

    def test_the_commands_reach_nothing_pure(self):
        self.assertEqual(set(self.tree.reachable(["src/cli/program.cpp"])[1]) - self.tree.acts, set())

    def test_the_map_has_no_circle(self):
        uses, _ = parse_layers((self.tree.root / "src/layers.txt").read_text())
        for name in uses:
            self.assertNotIn(name, above({other for other in uses if name in uses[other]}, uses), name)


if __name__ == "__main__":
    unittest.main()
