"""Runs the real NCCL between two hosts and reads the captures: classes, directions, rails, source ports.

Usage: wire_test.py LAUNCHER BUILD_FOLDER
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAUNCHER, BUILD = sys.argv[1], sys.argv[2]
DATA, CONTROL = 106, 192


# $MORE: what one host's ranks get in addition, by the environment.
PROGRAM = f"exec {BUILD}/tools/collperf/collperf all_reduce -b 8 -e 512K -f 256 -n 2 -w 1 -c 1 $MORE"


def run_job(*settings: str) -> tuple[int, dict]:
    """The launcher's exit status and report of a short all_reduce with these environment settings.

    collperf exits with 1 when an element is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [LAUNCHER, "--build", BUILD, "--hosts", "2", "--gpus-per-host", "1"]
        command += ["--rails", "2", "--device", "rxe", "--net", "rocelane", "--timeout", "110"]
        command += ["--json", str(report), "--pcap", str(Path(folder) / "pcap")]
        for setting in settings:
            command += ["--env", setting]
        command += ["--", "bash", "-c", PROGRAM]
        finished = subprocess.run(command, timeout=180, capture_output=True, text=True)
        print(finished.stdout, finished.stderr, sep="\n", flush=True)
        return finished.returncode, json.loads(report.read_text())


class Wire(unittest.TestCase):
    def assert_classes_on_every_packet(self, report: dict) -> None:
        self.assertEqual(len(report["wire"]), 2, "one capture a rail")
        for rail in report["wire"]:
            classes = {entry["traffic_class"]: entry for entry in rail["traffic_classes"]}
            self.assertEqual(set(classes), {DATA, CONTROL}, f"rail {rail['rail']}")
            self.assertEqual(sum(entry["packets"] for entry in classes.values()), rail["packets"])
            for value, entry in classes.items():
                self.assertEqual(len(entry["directions"]), 2, f"class {value} goes one way only")
                self.assertIn("acknowledge", entry["operations"], f"class {value}")
            self.assertGreater(classes[DATA]["bytes"], 10 * classes[CONTROL]["bytes"])

    def test_both_classes_go_both_ways_on_both_rails_over_distinct_source_ports(self) -> None:
        status, report = run_job(
            f"ROCELANE_TRAFFIC_CLASS={DATA}", f"ROCELANE_CONTROL_TRAFFIC_CLASS={CONTROL}"
        )
        self.assertEqual(status, 0)
        self.assert_classes_on_every_packet(report)
        for rail in report["wire"]:
            # Two connections a rail, each with two data lanes and a control lane, two ends each.
            self.assertEqual(len(rail["queue_pairs"]), 12)
            for pair in rail["queue_pairs"]:
                self.assertEqual(len(pair["traffic_classes"]), 1, pair)
                self.assertEqual(len(pair["udp_source_ports"]), 1, pair)
            self.assertGreater(len(rail["udp_source_ports"]), 8)

    def test_a_class_set_at_one_end_only_holds_for_both_directions(self) -> None:
        status, report = run_job(f"1:NCCL_IB_TC={DATA}", f"2:NCCL_IB_FIFO_TC={CONTROL}")
        self.assertEqual(status, 0)
        self.assert_classes_on_every_packet(report)

    def test_a_class_of_one_ranks_communicator_holds_for_both_directions(self) -> None:
        status, report = run_job(
            f"1:MORE=--traffic_class {DATA}", f"2:ROCELANE_CONTROL_TRAFFIC_CLASS={CONTROL}"
        )
        self.assertEqual(status, 0)
        self.assert_classes_on_every_packet(report)

    def test_two_different_wishes_are_one_sentence_with_both_values_and_no_job(self) -> None:
        status, report = run_job("1:NCCL_IB_TC=104", "2:NCCL_IB_TC=106")
        self.assertNotEqual(status, 0)
        warnings = [line for rank in report["ranks"] for line in rank["warnings"]]
        telling = [line for line in warnings if "104" in line and "106" in line]
        self.assertTrue(telling, warnings)
        self.assertLess(report["wall_time_s"], 80)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
