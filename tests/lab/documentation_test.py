"""The examples of docs/lab.md are files that the device accepts."""

import re
import unittest

import samples
from command import LabCommandTest
from lab_path import REPOSITORY

_EXAMPLE = re.compile(r"```toml\n(# (\w+)\.toml.*?)```", re.DOTALL)


class Documentation(LabCommandTest):
    options = ("--device", "softverbs")

    def test_its_examples_are_accepted(self) -> None:
        text = (REPOSITORY / "docs" / "lab.md").read_text()
        files = {
            name: str(samples.write_file(self.folder, f"{name}.toml", example))
            for example, name in _EXAMPLE.findall(text)
        }
        self.assertEqual(set(files), {"fabric", "faults"})
        ended = self.run_lab(
            "--fabric", files["fabric"], "--faults", files["faults"], "--", "true"
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
