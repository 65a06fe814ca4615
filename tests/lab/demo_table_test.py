import copy
import unittest
from typing import Any

import samples
from launcher.demo_table import RunFacts, render, shortcomings

BOTH_WAYS = [
    {"from": "10.8.0.1", "to": "10.8.0.2", "packets": 5, "bytes": 500},
    {"from": "10.8.0.2", "to": "10.8.0.1", "packets": 5, "bytes": 500},
]


def traffic_class(value: int) -> dict[str, Any]:
    return {
        "traffic_class": value,
        "dscp": value >> 2,
        "ecn": value & 3,
        "packets": 10,
        "bytes": 1000,
        "operations": {"write": 6, "acknowledge": 4},
        "udp_source_ports": [50000, 50001],
        "directions": copy.deepcopy(BOTH_WAYS),
    }


def result(network: str, time_us: float) -> dict[str, Any]:
    measured = {"time_us": time_us, "wrong": 0}
    return {
        "lab": {"device": "rxe"},
        "softverbs": None,
        "ranks": [{"network": network}, {"network": network}],
        "wire": [
            {
                "rail": rail,
                "packets": 20,
                "bytes": 2000,
                "traffic_classes": [traffic_class(106), traffic_class(192)],
            }
            for rail in (1, 2)
        ],
        "program_report": {
            "rows": [
                {"size_bytes": size, "out_of_place": dict(measured), "in_place": dict(measured)}
                for size in (8, 16)
            ]
        },
    }


class Demo(unittest.TestCase):
    def setUp(self) -> None:
        self.built_in = RunFacts("IB", result("IB", 30.0))
        self.ours = RunFacts("Rocelane", result("Rocelane", 20.0))

    def problems(self) -> str:
        return " ".join(shortcomings([self.built_in, self.ours], 106, 192, 2))

    def test_two_good_runs_have_no_shortcomings(self) -> None:
        self.assertEqual(self.problems(), "")

    def test_the_table_shows_both_times_and_their_ratio(self) -> None:
        rows = [line.split() for line in render(self.built_in, self.ours).splitlines()]
        self.assertIn(["8", "30.0", "20.0", "1.50", "0", "0"], rows)

    def test_the_table_shows_the_classes_on_the_wire_of_each_rail(self) -> None:
        rows = [line.split()[:7] for line in render(self.built_in, self.ours).splitlines()]
        self.assertEqual(rows.count(["1", "106", "26", "2", "10", "1000", "2"]), 2)
        self.assertEqual(rows.count(["2", "192", "48", "0", "10", "1000", "2"]), 2)

    def test_another_network_than_asked_for_is_found(self) -> None:
        self.ours.result["ranks"][1]["network"] = "IB"
        self.assertIn(
            "should have used the network Rocelane, but its log names IB", self.problems()
        )

    def test_wrong_elements_are_found_in_and_out_of_place(self) -> None:
        self.ours.result["program_report"]["rows"][1]["in_place"]["wrong"] = 3
        self.assertIn("Rocelane: 3 elements of 16 B are wrong", self.problems())

    def test_unchecked_elements_do_not_pass_for_right_ones(self) -> None:
        self.built_in.result["program_report"]["rows"][0]["out_of_place"]["wrong"] = None
        self.assertIn("IB: the elements of 8 B were not checked", self.problems())

    def test_a_missing_report_is_found(self) -> None:
        self.built_in.result["program_report"] = None
        self.assertIn("IB: collperf reported no sizes", self.problems())
        self.assertIn("did not measure the same sizes", self.problems())

    def test_a_silent_rail_is_found(self) -> None:
        self.ours.result["wire"][1].update(packets=0, traffic_classes=[])
        self.assertIn("Rocelane: 1 of 2 rails carried RoCE packets", self.problems())
        self.assertIn("carried no RoCE packet", render(self.built_in, self.ours))

    def test_a_class_nobody_configured_is_found(self) -> None:
        self.ours.result["wire"][0]["traffic_classes"].append(traffic_class(0))
        self.assertIn("rail 1 carried the traffic classes [0, 106, 192]", self.problems())

    def test_control_traffic_in_the_data_class_is_found(self) -> None:
        del self.ours.result["wire"][0]["traffic_classes"][1]
        self.assertIn("rail 1 carried the traffic classes [106]", self.problems())

    def test_a_class_in_one_direction_only_is_found(self) -> None:
        del self.ours.result["wire"][1]["traffic_classes"][0]["directions"][1]
        self.assertIn("rail 2 carried traffic class 106 in one direction only", self.problems())


class SoftwareDemo(unittest.TestCase):
    """The same promises, judged by what the devices have counted."""

    def setUp(self) -> None:
        self.runs = [
            RunFacts(name, {**result(name, 30.0), "lab": {"device": "softverbs"}, "wire": []})
            for name in ("IB", "Rocelane")
        ]
        for run in self.runs:
            run.result["softverbs"] = samples.counters(traffic_classes=(106, 192))

    def problems(self) -> str:
        return " ".join(shortcomings(self.runs, 106, 192, 2))

    def test_two_good_runs_have_no_shortcomings(self) -> None:
        self.assertEqual(self.problems(), "")

    def test_the_table_shows_classes_bytes_and_ports_of_each_rail(self) -> None:
        text = render(*self.runs)
        self.assertIn("by the devices' counters", text)
        rows = [line.split()[:7] for line in text.splitlines()]
        self.assertEqual(rows.count(["soft_0", "106", "26", "2", "10", "1000", "2"]), 2)

    def test_missing_counters_are_found(self) -> None:
        self.runs[1].result["softverbs"] = None
        self.assertIn("Rocelane: 0 of 2 rails carried work requests", self.problems())

    def test_a_silent_rail_is_found(self) -> None:
        for device in self.runs[0].result["softverbs"]["devices"]:
            if device["name"].endswith("soft_1"):
                device["queue_pairs"].clear()
        self.assertIn("IB: 1 of 2 rails carried work requests", self.problems())
        self.assertIn("soft_1  carried no work request", render(*self.runs))

    def test_a_class_nobody_configured_is_found(self) -> None:
        device = self.runs[1].result["softverbs"]["devices"][0]
        device["queue_pairs"].append(samples.queue_pair("host2/soft_0", traffic_class=0))
        self.assertIn("rail soft_0 carried the traffic classes [0, 106, 192]", self.problems())

    def test_a_class_in_one_direction_only_is_found(self) -> None:
        self.runs[1].result["softverbs"]["devices"][0]["queue_pairs"].pop()
        self.assertIn("soft_0 carried traffic class 192 in one direction only", self.problems())


if __name__ == "__main__":
    unittest.main()
