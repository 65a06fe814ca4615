import unittest

import samples
from launcher.software_traffic import rails_of


class Rails(unittest.TestCase):
    def test_devices_of_one_name_are_a_rail(self) -> None:
        rails = rails_of(samples.counters(traffic_classes=(106, 192)))
        self.assertEqual([rail["rail"] for rail in rails], ["soft_0", "soft_1"])
        self.assertEqual([rail["work_requests"] for rail in rails], [20, 20])
        self.assertEqual([rail["bytes"] for rail in rails], [2000, 2000])

    def test_traffic_is_told_apart_by_class(self) -> None:
        data, control = rails_of(samples.counters(traffic_classes=(106, 192)))[0]["traffic_classes"]
        self.assertEqual((data["traffic_class"], data["dscp"], data["ecn"]), (106, 26, 2))
        self.assertEqual((control["traffic_class"], control["dscp"], control["ecn"]), (192, 48, 0))
        self.assertEqual(data["udp_source_ports"], [50001, 50002])
        self.assertEqual(
            data["operations"], {"send": 2, "write": 6, "write with immediate": 2}
        )

    def test_directions_name_both_devices(self) -> None:
        data = rails_of(samples.counters(traffic_classes=(106,)))[0]["traffic_classes"][0]
        self.assertEqual(
            data["directions"],
            [
                {"from": "host1/soft_0", "to": "host2/soft_0", "work_requests": 5, "bytes": 500},
                {"from": "host2/soft_0", "to": "host1/soft_0", "work_requests": 5, "bytes": 500},
            ],
        )

    def test_queue_pairs_that_carried_nothing_do_not_count(self) -> None:
        counters = samples.counters(traffic_classes=(106,))
        idle = samples.queue_pair("host2/soft_0", traffic_class=8)
        idle["counters"] = dict.fromkeys(idle["counters"], 0)
        counters["devices"][0]["queue_pairs"].append(idle)
        self.assertEqual(len(rails_of(counters)[0]["traffic_classes"]), 1)


if __name__ == "__main__":
    unittest.main()
