#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which modules a change can reach, so that CI need not build and run the others under the sanitizers.

    git diff --name-only BASE | reachable_modules.py modules|tests|fuzz [--root DIR]

`modules` are all that may include what changed (src/layers.txt, in as many steps as it takes); `tests` the pure modules
whose test programs can behave otherwise; `fuzz` the fuzz targets that can. One name a line, nothing when nothing can.

It errs towards too many: a file that it knows nothing about reaches everything.
"""
import argparse
import pathlib
import re
import sys

# Builds, or chooses what is built: everything.
EVERYTHING = re.compile(r"cmake/|CMakeLists\.txt$|CMakePresets\.json$|run$|\.ci/|src/layers\.txt$|tests/CMakeLists\.txt$"
                        r"|tests/support/|tools/reachable_modules")
# In no pure test program and no fuzz target.
NOTHING = re.compile(r"docs/|packaging/|tools/|tests/(guards|hostile|oracles)/|LICENSE$|\.clang-|\.git|(.*/)?[^/]*\.md$")
OF_TESTS = re.compile(r"_(test|fuzz)\.cpp$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def parse_layers(text):
    """The map as {module: modules it may include}, and the modules that touch the world. `x/io` is a module here."""
    uses, acts = {}, set()
    for line in text.splitlines():
        name, colon, rest = line.split("#")[0].partition(":")
        if not colon:
            continue
        if name.strip() == "acts":
            acts = set(rest.split())
        else:
            uses[name.strip()] = set(rest.split())
    for name in [name for name in uses if name.endswith("/io")]:
        feature = name[:-len("/io")]
        uses[name] |= uses[feature] | {feature}
        acts.add(name)
        for other in acts:  # only those may include it, where they may include its feature
            if "/" not in other and feature in uses[other]:
                uses[other].add(name)
    return uses, acts


def above(modules, uses):
    """`modules`, and all that may include them."""
    reached = set(modules)
    while more := {name for name, below in uses.items() if below & reached} - reached:
        reached |= more
    return reached


class Tree:
    """What the files say that the map does not: whose tests there are, and what these use."""

    def __init__(self, root):
        self.root = root
        self.uses, self.acts = parse_layers((root / "src/layers.txt").read_text())
        self.present = [name for name in self.uses if (root / "src" / name / "CMakeLists.txt").exists()]
        self.texts = {}  # of a module: the files of its tests and fuzz targets
        for name in self.present:
            folder = root / "src" / name
            files = [path for path in sorted(folder.rglob("*.cpp")) if OF_TESTS.search(path.name)]
            self.texts[name] = {path: path.read_text() for path in files if self.module_of(path) == name}

    def module_of(self, path):
        parts = path.relative_to(self.root / "src").parts
        return f"{parts[0]}/io" if len(parts) > 2 and parts[1] == "io" and f"{parts[0]}/io" in self.uses else parts[0]

    def build_file(self, name):
        return (self.root / "src" / name / "CMakeLists.txt").read_text()

    def fuzz_targets(self, name):
        return [path.stem for path in self.texts[name] if path.stem.endswith("_fuzz")]

    def test_uses(self, name):
        """The modules that the tests of `name` include, also through tests/support, where they may be any."""
        found, seen, left = set(), set(), list(self.texts[name].values())
        while left:
            for include in INCLUDE.findall(left.pop()):
                first = include.split("/")[0]
                if first != "support":
                    found.add(first)
                elif include not in seen:
                    seen.add(include)
                    header = self.root / "tests" / include
                    left += [path.read_text() for path in (header, header.with_suffix(".cpp")) if path.exists()]
        return found

    def readers(self, folder):
        """The modules whose tests name files of tests/vectors/<folder>."""
        named = re.compile(rf'^(?!\s*#).*"{re.escape(folder)}/', re.M)
        return {name for name in self.present if name == folder or any(map(named.search, self.texts[name].values()))}

    def builders(self, path):
        """The modules that name a file outside of their folder in their CMakeLists.txt."""
        return {name for name in self.present if f"${{CMAKE_SOURCE_DIR}}/{path}" in self.build_file(name)}

    def changed_modules(self, paths):
        """Whose code changed, and whose tests alone; (None, None) for everything."""
        code, tests = set(), set()
        for path in paths:
            parts = path.split("/")
            if EVERYTHING.match(path):
                return None, None
            if built := self.builders(path):
                code |= built
            elif parts[0] == "src" and len(parts) > 2 and parts[1] in self.uses:
                module = self.module_of(self.root / path)
                if OF_TESTS.search(path):
                    tests.add(module)
                elif not path.endswith(("_bench.cpp", ".md")):
                    code.add(module)
            elif path.startswith("tests/fuzz/"):
                tests |= {name for name in self.present if parts[2] in self.fuzz_targets(name)}
            elif path.startswith("tests/vectors/") and (readers := self.readers(parts[2])):
                tests |= readers
            elif not NOTHING.match(path):
                return None, None
        return code, tests

    def reachable(self, paths):
        """(modules whose code is reached, modules whose tests and fuzz targets are), in the order of the map."""
        code, tests = self.changed_modules(paths)
        if code is None:
            return self.present, self.present
        reached = above(code, self.uses)
        tests |= reached | {name for name in self.present if self.test_uses(name) & reached}
        return [name for name in self.present if name in reached], [name for name in self.present if name in tests]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("what", choices=["modules", "tests", "fuzz"])
    arguments.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    given = arguments.parse_args()
    tree = Tree(given.root)
    modules, tested = tree.reachable(sys.stdin.read().split())
    if given.what == "modules":
        names = modules
    elif given.what == "tests":
        names = [name for name in tested if name not in tree.acts and re.search(r"\bTESTS\b", tree.build_file(name))]
    else:
        names = sorted(target for name in tested for target in tree.fuzz_targets(name))
    for name in names:
        print(name)


if __name__ == "__main__":
    main()
