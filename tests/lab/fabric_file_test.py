import tempfile
import tomllib
import unittest
from pathlib import Path

import samples
from launcher.fabric_file import complete_text, read_fabric_file


class FabricFile(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_hosts_rails_and_names_are_read(self) -> None:
        text = '[hosts]\ncount = 4\nrails = 8\ndevice_prefix = "mlx5_"\n'
        fabric = read_fabric_file(samples.write_file(self.folder, "fabric.toml", text))
        self.assertEqual((fabric.hosts, fabric.rails, fabric.device_prefix), (4, 8, "mlx5_"))

    def test_an_empty_file_says_nothing_of_them(self) -> None:
        fabric = read_fabric_file(samples.write_file(self.folder, "fabric.toml", ""))
        self.assertEqual((fabric.hosts, fabric.rails, fabric.device_prefix), (None, None, "soft_"))


class CompleteText(unittest.TestCase):
    def test_hosts_are_added_where_there_are_none(self) -> None:
        for text in ("", "seed = 7\n", '[fabric]\nkind = "leaf"'):
            completed = complete_text(text, 3, 1)
            self.assertTrue(completed.startswith(text))
            self.assertEqual(tomllib.loads(completed)["hosts"], {"count": 3, "rails": 1})

    def test_what_is_there_is_left_alone(self) -> None:
        for text in ("[hosts]\ncount = 4\n", "hosts = { count = 4 }\n"):
            self.assertEqual(complete_text(text, 4, 2), text)


if __name__ == "__main__":
    unittest.main()
