#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests with ctest, runs once more what failed among those that have other programs in them, and counts.

    run_tests.py BUILD [--again LABEL,…] [--flaky FILE] [--] [ctest options…]

What a test of the labels in --again asks of kernels, networks and other programs can go wrong by chance; one that passes
the second time is no reason to refuse a change, but a defect: it is named in a line `flaky: NAME` and written to --flaky.
Of a program only the cases that failed run again (RHIZOME_TEST_CASES, see tests/support/main.cpp), or all of it when it
ended without saying which. The last line is `N passed, M failed`, counted in cases.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)(?:, where .*)? \(\d+ ms\)$", re.M)
BEGUN = re.compile(r"^\[ RUN      \] ([\w/]+\.[\w/]+)$", re.M)
RAN = re.compile(r"^\[==========\] (\d+) tests? from \d+ test suites? ran\.", re.M)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?\b", re.M)


@dataclass
class Outcome:
    """How one of ctest's tests ended. `cases` that failed; none although it failed: it ended without saying which."""
    name: str
    state: str  # run, fail, disabled, notrun
    output: str = ""
    labels: tuple = ()
    cases: list = field(default_factory=list)

    @property
    def good(self):
        return self.state == "run"

    def count(self):
        """(passed, failed, skipped)"""
        if self.state in ("disabled", "notrun"):
            return 0, 0, 1
        ran = RAN.search(self.output)
        if not ran:  # no GoogleTest program, or one that broke down
            return (1, 0, 0) if self.good else (0, 1, 0)
        skipped = SKIPPED.search(self.output)
        skipped = int(skipped[1]) if skipped else 0
        failed = 0 if self.good else max(1, len(self.cases))
        return max(0, int(ran[1]) - skipped - failed), failed, skipped


def read_outcomes(text, labels):
    """What ctest wrote with --output-junit; `labels` are those of each test."""
    found = []
    for case in xml.fromstring(text).iter("testcase"):
        output = "\n".join(case.itertext())
        state = case.get("status")
        if state == "fail" and case.find("skipped") is not None:
            state = "notrun"
        outcome = Outcome(case.get("name"), state, output, labels.get(case.get("name"), ()))
        if not outcome.good and RAN.search(output):
            outcome.cases = list(dict.fromkeys(FAILED.findall(output)))
        found.append(outcome)
    return found


def read_labels(text):
    """Of `ctest --show-only=json-v1`."""
    labels = {}
    for test in json.loads(text)["tests"]:
        values = [one["value"] for one in test.get("properties", []) if one["name"] == "LABELS"]
        labels[test["name"]] = tuple(label for value in values for label in value)
    return labels


class Ctest:
    def __init__(self, build, options):
        self.base = ["ctest", "--test-dir", str(build)]
        self.options = options
        self.report = build / "Testing" / "report.xml"

    def labels(self):
        shown = subprocess.run([*self.base, "--show-only=json-v1", *self.options], capture_output=True, text=True)
        if shown.returncode != 0:
            sys.exit(shown.stderr or shown.stdout)
        return read_labels(shown.stdout)

    def run(self, *more, cases=()):
        self.report.unlink(missing_ok=True)
        surroundings = dict(os.environ)
        surroundings.pop("RHIZOME_TEST_CASES", None)
        if cases:
            surroundings["RHIZOME_TEST_CASES"] = ":".join(cases)
        code = subprocess.run([*self.base, *self.options, "--output-on-failure", "--no-tests=error",
                               "--test-output-size-passed", "4194304", "--test-output-size-failed", "16777216",
                               "--output-junit", str(self.report.resolve()), *more], env=surroundings).returncode
        if not self.report.exists():
            sys.exit(code or 1)
        return self.report.read_text(errors="replace")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--again", default="", help="labels of tests that run once more when they fail")
    arguments.add_argument("--flaky", type=pathlib.Path, help="file that gets the names of those that passed only then")
    # What follows `--` is ctest's; argparse's own way to say so would take the options before it as well.
    end = (sys.argv + ["--"]).index("--")
    given = arguments.parse_args(sys.argv[1:end])
    again = set(filter(None, given.again.split(",")))
    ctest = Ctest(given.build, sys.argv[end + 1:])
    labels = ctest.labels()
    outcomes = read_outcomes(ctest.run(), labels)

    flaky, broken = [], []
    passed, failed, skipped = (sum(column) for column in zip(*(outcome.count() for outcome in outcomes)))
    for outcome in [outcome for outcome in outcomes if outcome.state == "fail"]:
        names = [f"{outcome.name} {case}" for case in outcome.cases] or [outcome.name]
        if not again & set(outcome.labels):
            broken += names
            continue
        print(f"\n-- once more: {', '.join(names)}", flush=True)
        # Fixtures of the test are run as well, so it is looked for by name.
        second = read_outcomes(ctest.run("-R", f"^{re.escape(outcome.name)}$", cases=outcome.cases), labels)
        if all(one.good for one in second):
            flaky += names
            lost = outcome.count()[1]
            passed, failed = passed + lost, failed - lost
        else:
            broken += names

    print()
    for name in broken:
        print(f"failed: {name}")
    for name in flaky:
        print(f"flaky: {name}")
    if flaky and given.flaky:
        with given.flaky.open("a") as file:
            file.writelines(f"{name}\n" for name in flaky)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
