import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import samples
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

    def test_devices_are_software_unless_others_are_asked_for(self) -> None:
        self.assertEqual(parse(["--", "x"]).device, "softverbs")
        self.assertEqual(parse(["--device", "rxe", "--", "x"]).device, "rxe")

    def test_rocelane_is_the_network_of_devices_and_sockets_are_that_of_plain_hosts(self) -> None:
        self.assertEqual(parse(["--", "x"]).net, "rocelane")
        self.assertEqual(parse(["--device", "rxe", "--", "x"]).net, "rocelane")
        self.assertEqual(parse(["--device", "none", "--", "x"]).net, "socket")

    def test_the_world_is_hosts_times_gpus(self) -> None:
        options = parse(["--hosts", "3", "--gpus-per-host", "2", "--", "x"])
        self.assertEqual(options.world_size, 6)

    def test_files_are_paths(self) -> None:
        files = ["--json", "a/b.json", "--pcap", "c", "--logs", "d"]
        options = parse(["--device", "rxe", *files, "--", "x"])
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
        for device in ("none", "softverbs"):
            for option, said in (
                (("--pcap", "p"), "--pcap captures"),
                (("--guest-hook", "h"), "--guest-hook needs"),
                (("--mtu", "4200"), "--mtu is that of the guests"),
                (("--memory", "4096"), "--memory is for guests"),
                (("--cpus-per-host", "2"), "--cpus-per-host is for guests"),
            ):
                words = refusal("--device", device, *option, "--", "x")
                self.assertIn(said, words)
                self.assertIn("use --device rxe", words)

    def test_what_needs_software_devices_is_refused_without_them(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            for device in ("none", "rxe"):
                for option in ("--fabric", "--faults"):
                    words = refusal("--device", device, option, file.name, "--", "x")
                    self.assertIn(f"{option} ", words)
                    self.assertIn("use --device softverbs", words)

    def test_a_setting_for_a_host_that_does_not_exist_is_refused(self) -> None:
        self.assertIn("the hosts are 1 to 2", refusal("--env", "3:A=b", "--", "x"))
        self.assertIn("the hosts are 1 to 2", refusal("--env", "0:A=b", "--", "x"))

    def test_numbers_out_of_bounds_are_refused(self) -> None:
        self.assertIn("not between", refusal("--hosts", "0", "--", "x"))
        self.assertIn("not a whole number", refusal("--rails", "two", "--", "x"))
        self.assertIn("not between", refusal("--timeout", "-1", "--", "x"))


class Fabric(unittest.TestCase):
    """Hosts and rails are on the command line, in the fabric file, or nowhere."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def fabric(self, text: str) -> str:
        return str(samples.write_file(self.folder, "fabric.toml", text))

    def test_without_a_file_there_are_two_of_each(self) -> None:
        options = parse(["--", "x"])
        self.assertEqual((options.hosts, options.rails, options.fabric), (2, 2, None))

    def test_the_file_says_how_many_there_are(self) -> None:
        file = self.fabric("[hosts]\ncount = 4\nrails = 1\n")
        options = parse(["--fabric", file, "--env", "4:A=b", "--", "x"])
        self.assertEqual((options.hosts, options.rails), (4, 1))

    def test_what_a_file_with_hosts_leaves_out_is_what_it_means_to_the_device(self) -> None:
        options = parse(["--fabric", self.fabric("[hosts]\nmtu = 1024\n"), "--", "x"])
        self.assertEqual((options.hosts, options.rails), (1, 2))

    def test_a_file_without_hosts_leaves_them_to_the_command_line(self) -> None:
        file = self.fabric('[fabric]\nkind = "leaf"\n')
        options = parse(["--hosts", "3", "--fabric", file, "--", "x"])
        self.assertEqual((options.hosts, options.rails), (3, 2))

    def test_the_two_must_not_disagree(self) -> None:
        file = self.fabric("[hosts]\ncount = 4\nrails = 2\n")
        self.assertIn("--hosts 3, but ", refusal("--hosts", "3", "--fabric", file, "--", "x"))
        self.assertIn("--rails 1, but ", refusal("--rails", "1", "--fabric", file, "--", "x"))
        agreed = parse(["--hosts", "4", "--rails", "2", "--fabric", file, "--", "x"])
        self.assertEqual(agreed.hosts, 4)

    def test_more_hosts_than_the_launcher_runs_are_refused(self) -> None:
        file = self.fabric("[hosts]\ncount = 65\n")
        self.assertIn("describes 65 hosts", refusal("--fabric", file, "--", "x"))

    def test_files_that_cannot_be_read_are_named(self) -> None:
        self.assertIn("no-such-file", refusal("--fabric", "no-such-file", "--", "x"))
        self.assertIn("no-such-file", refusal("--faults", "no-such-file", "--", "x"))
        broken = self.fabric("[hosts\n")
        self.assertRegex(refusal("--fabric", broken, "--", "x"), r"is not TOML: .*line 1")
        wrong = self.fabric("[hosts]\ncount = true\n")
        self.assertIn("hosts.count is not a whole number", refusal("--fabric", wrong, "--", "x"))


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
