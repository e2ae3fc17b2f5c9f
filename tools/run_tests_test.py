#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of tests says in the end, with the real ctest and programs that speak as GoogleTest's do."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

# $1: how it behaves. The file `seen` is there the second time. Cases that it is asked for stand in `asked`.
PROGRAM = """#!/bin/sh
cd "$(dirname "$0")"
echo "$1 ${RHIZOME_TEST_CASES:-all}" >>asked
ran() { echo "[==========] $1 tests from 1 test suite ran. (5 ms total)"; }
failed() { echo "[  FAILED  ] $1 (3 ms)"; }
case $1 in
    good) ran 5; echo "[  PASSED  ] 5 tests." ;;
    skips) ran 3; echo "[  PASSED  ] 1 test."; echo "[  SKIPPED ] 2 tests, listed below:" ;;
    bad) failed ThingsKill.Break; failed ThingsKill.Bend; ran 9; exit 1 ;;
    chance) if [ -e seen ]; then ran 1; else touch seen; failed "LuckKill.Holds/3, where GetParam() = 7"; ran 4; exit 1; fi ;;
    crash) if [ -e seen ]; then ran 4; else touch seen; kill -SEGV $$; fi ;;
    script) ;;
    absent) exit 77 ;;
esac
"""


class Runs(unittest.TestCase):
    def run_tests(self, *tests, again="kill,root"):
        """`tests` as name, label, behaviour; (exit code, last lines, what the programs were asked, flaky file)."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        lines = []
        for name, label, behaviour in tests:
            home = root / name
            home.mkdir()
            program = home / "program"
            program.write_text(PROGRAM)
            program.chmod(0o755)
            lines.append(f'add_test({name} "{program}" {behaviour})\n'
                         f'set_tests_properties({name} PROPERTIES LABELS {label} SKIP_RETURN_CODE 77)\n')
        (root / "CTestTestfile.cmake").write_text("".join(lines))
        ran = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("run_tests.py"), root, "--again", again,
                              "--flaky", root / "flaky", "--", "-j", "2"], capture_output=True, text=True, check=False)
        tail = ran.stdout.rpartition("\n\n")[2].splitlines()
        asked = {name: (root / name / "asked").read_text().splitlines() for name, _, _ in tests}
        flaky = (root / "flaky").read_text() if (root / "flaky").exists() else ""
        return ran.returncode, tail, asked, flaky

    def test_cases_are_counted_over_all_programs(self):
        code, tail, _, flaky = self.run_tests(("a.unit", "unit", "good"), ("b.root", "root", "skips"),
                                              ("c.root", "root", "script"), ("d.root", "root", "absent"))
        self.assertEqual((code, tail, flaky), (0, ["7 passed, 0 failed, 3 skipped"], ""))

    def test_what_fails_twice_has_failed(self):
        code, tail, asked, flaky = self.run_tests(("a.kill", "kill", "bad"), ("b.unit", "unit", "good"))
        self.assertEqual(code, 1)
        self.assertEqual(tail, ["failed: a.kill ThingsKill.Break", "failed: a.kill ThingsKill.Bend", "12 passed, 2 failed"])
        self.assertEqual(asked["a.kill"], ["bad all", "bad ThingsKill.Break:ThingsKill.Bend"])
        self.assertEqual(flaky, "")

    def test_what_passes_the_second_time_is_named_and_no_failure(self):
        code, tail, asked, flaky = self.run_tests(("a.kill", "kill", "chance"))
        self.assertEqual((code, tail), (0, ["flaky: a.kill LuckKill.Holds/3", "4 passed, 0 failed"]))
        self.assertEqual(asked["a.kill"], ["chance all", "chance LuckKill.Holds/3"])
        self.assertEqual(flaky, "a.kill LuckKill.Holds/3\n")

    def test_a_program_that_breaks_down_runs_whole_again(self):
        code, tail, asked, _ = self.run_tests(("a.root", "root", "crash"))
        self.assertEqual((code, tail), (0, ["flaky: a.root", "1 passed, 0 failed"]))
        self.assertEqual(asked["a.root"], ["crash all", "crash all"])

    def test_other_labels_have_one_try(self):
        code, tail, asked, flaky = self.run_tests(("a.unit", "unit", "chance"))
        self.assertEqual((code, tail), (1, ["failed: a.unit LuckKill.Holds/3", "3 passed, 1 failed"]))
        self.assertEqual((asked["a.unit"], flaky), (["chance all"], ""))


if __name__ == "__main__":
    unittest.main()
