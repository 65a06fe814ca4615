import contextlib
import io
import unittest
from pathlib import Path

import lab_path  # noqa: F401
from launcher.options import Setting, parse, parse_setting


def refusal(*arguments: str) -> str:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parse(arguments)
    except SystemExit as exit_:
        assert exit_.code == 2
        return said.getvalue()
    raise AssertionError("the arguments were accepted")


class Options(unittest.TestCase):
    def test_everything_after_the_dashes_belongs_to_the_program(self) -> None:
        options = parse(["--hosts", "3", "--", "collperf", "all_reduce", "--json", "x", "-b", "8"])
        self.assertEqual(options.command, ("collperf", "all_reduce", "--json", "x", "-b", "8"))
        self.assertIsNone(options.json_file)
        self.assertEqual(options.hosts, 3)

    def test_rocelane_is_the_network_of_guests_and_sockets_are_that_of_plain_hosts(self) -> None:
        self.assertEqual(parse(["--", "x"]).net, "rocelane")
        self.assertEqual(parse(["--device", "none", "--", "x"]).net, "socket")

    def test_the_world_is_hosts_times_gpus(self) -> None:
        options = parse(["--hosts", "3", "--gpus-per-host", "2", "--", "x"])
        self.assertEqual(options.world_size, 6)

    def test_files_are_paths(self) -> None:
        options = parse(["--json", "a/b.json", "--pcap", "c", "--logs", "d", "--", "x"])
        self.assertEqual(options.json_file, Path("a/b.json"))
        self.assertEqual(options.pcap_folder, Path("c"))
        self.assertEqual(options.logs_folder, Path("d"))

    def test_a_missing_program_is_refused(self) -> None:
        self.assertIn("no program given", refusal("--hosts", "2"))

    def test_rdma_networks_need_rdma_devices(self) -> None:
        self.assertIn(
            "--net ib needs RDMA devices", refusal("--device", "none", "--net", "ib", "--", "x")
        )

    def test_what_needs_guests_is_refused_without_them(self) -> None:
        self.assertIn("--pcap captures", refusal("--device", "none", "--pcap", "p", "--", "x"))
        self.assertIn(
            "--guest-hook needs", refusal("--device", "none", "--guest-hook", "h", "--", "x")
        )

    def test_a_setting_for_a_host_that_does_not_exist_is_refused(self) -> None:
        self.assertIn("the hosts are 1 to 2", refusal("--env", "3:A=b", "--", "x"))
        self.assertIn("the hosts are 1 to 2", refusal("--env", "0:A=b", "--", "x"))

    def test_numbers_out_of_bounds_are_refused(self) -> None:
        self.assertIn("not between", refusal("--hosts", "0", "--", "x"))
        self.assertIn("not a whole number", refusal("--rails", "two", "--", "x"))
        self.assertIn("not between", refusal("--timeout", "-1", "--", "x"))


class Settings(unittest.TestCase):
    def test_a_setting_is_for_all_ranks_or_for_one_host(self) -> None:
        self.assertEqual(parse_setting("A=b"), Setting(None, "A", "b"))
        self.assertEqual(parse_setting("2:A=b"), Setting(2, "A", "b"))
        self.assertEqual(parse_setting("host2:A=b"), Setting(2, "A", "b"))

    def test_a_value_may_be_empty_and_may_hold_anything(self) -> None:
        self.assertEqual(parse_setting("A="), Setting(None, "A", ""))
        self.assertEqual(parse_setting("A=1:B=c d\ne"), Setting(None, "A", "1:B=c d\ne"))

    def test_what_is_not_a_setting_is_refused(self) -> None:
        for text in ("A", "=b", "x:A=b", "2:=b", "A-B=c"):
            self.assertIn("is neither NAME=VALUE", refusal("--env", text, "--", "x"), text)


if __name__ == "__main__":
    unittest.main()
