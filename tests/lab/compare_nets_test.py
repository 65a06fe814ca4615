import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from command import BUILD_FOLDER
from lab_path import REPOSITORY
from launcher.compare_nets import compare, order_of_runs, render, report, spread, times_of

COMPARE = REPOSITORY / "tools" / "lab" / "compare_nets"


def result(times_us: dict[int, float]) -> dict[str, Any]:
    rows = [
        {"size_bytes": size, "out_of_place": {"time_us": time}, "in_place": {"time_us": 1.0}}
        for size, time in times_us.items()
    ]
    return {"program_report": {"rows": rows}}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(COMPARE), *arguments], capture_output=True, text=True, timeout=110)


class Deciding(unittest.TestCase):
    def test_neither_network_is_always_the_first(self) -> None:
        self.assertEqual(order_of_runs(["a", "b"], 3), ["a", "b", "b", "a", "a", "b"])

    def test_times_are_those_out_of_place(self) -> None:
        self.assertEqual(times_of(result({8: 5.0, 16: 6.0})), {8: 5.0, 16: 6.0})

    def test_a_job_that_reports_nothing_has_no_times(self) -> None:
        self.assertEqual(times_of({"program_report": None}), {})

    def test_the_ratio_is_that_of_the_medians(self) -> None:
        rows = compare({8: [1.0, 100.0, 3.0]}, {8: [6.0, 5.0, 7.0], 16: [1.0]})
        self.assertEqual([(row.size_bytes, row.ratio) for row in rows], [(8, 0.5)])

    def test_the_spread_leaves_out_the_extremes(self) -> None:
        self.assertAlmostEqual(spread([1.0, 10.0, 10.0, 10.0, 90.0]), 0.0)
        self.assertEqual(spread([3.0]), 0.0)

    def test_table_and_report_say_the_same(self) -> None:
        times = {"a": {8: [1.0], 16: [4.0]}, "b": {8: [2.0], 16: [2.0]}}
        rows = compare(times["a"], times["b"])
        self.assertIn("geometric mean of the ratios: 1.00", render(["a", "b"], 1, rows))
        written = report(["a", "b"], times, rows)
        self.assertEqual([row["ratio"] for row in written["rows"]], [0.5, 2.0])
        self.assertEqual(written["rows"][1]["times_us"], {"a": [4.0], "b": [2.0]})


class AsUsersRunIt(unittest.TestCase):
    def test_compares_the_real_nccl_over_two_networks(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "out.json"
            done = run(
                *("--runs", "1", "--json", str(file), "--build", BUILD_FOLDER, "--rails", "1"),
                *("--", "collperf", "all_reduce", "-b", "8", "-e", "16", "-f", "2"),
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\n +8 .*\n +16 .*\n# geometric mean")
            self.assertEqual(json.loads(file.read_text())["nets"], ["rocelane", "ib"])

    def test_a_job_without_times_is_refused(self) -> None:
        done = run("--build", BUILD_FOLDER, "--runs", "1", "--", "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("it must be collperf", done.stderr)

    def test_what_makes_no_sense_is_refused(self) -> None:
        for arguments, sentence in (
            (["--runs", "0", "--", "collperf"], "at least 1"),
            (["--nets", "ib,ib", "--", "collperf"], "two different networks"),
            (["--runs", "2"], "there is no job"),
            (["--json", "/no/such/folder/x", "--", "collperf"], "cannot be written"),
        ):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
