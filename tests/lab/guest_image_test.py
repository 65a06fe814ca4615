import lzma
import tempfile
import unittest
from pathlib import Path

import samples
from launcher.guest_image import digest_of_inputs, unpack_kernel

ELF = b"\x7fELF" + bytes(range(200))


class Image(unittest.TestCase):
    def test_the_kernel_is_found_inside_the_boot_image(self) -> None:
        packed = b"boot code" + lzma.compress(ELF) + b"trailer"
        self.assertEqual(unpack_kernel(packed), ELF)

    def test_a_chance_match_before_the_kernel_is_passed_over(self) -> None:
        packed = b"\xfd7zXZ\0 not really" + lzma.compress(b"a font") + lzma.compress(ELF)
        self.assertEqual(unpack_kernel(packed), ELF)

    def test_an_image_packed_otherwise_is_kept(self) -> None:
        self.assertEqual(unpack_kernel(b"boot code and zstd"), b"boot code and zstd")

    def test_the_digest_changes_with_any_input(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("make_image", "init", "modules"):
                samples.write_file(folder, file, file)
            before = digest_of_inputs(folder)
            self.assertEqual(digest_of_inputs(folder), before)
            samples.write_file(folder, "modules", "rdma_rxe")
            self.assertNotEqual(digest_of_inputs(folder), before)


if __name__ == "__main__":
    unittest.main()
