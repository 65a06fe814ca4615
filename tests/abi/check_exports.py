#!/usr/bin/env python3
"""Fails unless the net library exports exactly NCCL's tables and needs only what every host has."""

import subprocess
import sys

TABLES = [f"ncclNetPlugin_v{version}" for version in (8, 9, 10, 11, 12)]
ALLOWED_LIBRARIES = ("libibverbs.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6",
                     "ld-linux-x86-64.so.2")


def output_of(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    library = sys.argv[1]
    problems = []
    exported = {line.split()[-1]: line.split()[1] for line in output_of("nm", "-D", "--defined-only", library)}
    if sorted(exported) != sorted(TABLES):
        problems.append(f"exports {sorted(exported)} instead of {sorted(TABLES)}")
    problems += [f"{name} is no data object (nm says {kind})" for name, kind in exported.items()
                 if kind not in "DRB"]
    dynamic = output_of("readelf", "--wide", "--dynamic", library)
    needed = [line.split("[")[1].rstrip("]") for line in dynamic if "(NEEDED)" in line]
    problems += [f"needs {name}" for name in needed if name not in ALLOWED_LIBRARIES]
    problems += [f"has {tag}" for tag in ("RPATH", "RUNPATH", "TEXTREL", "NODELETE")
                 if any(tag in line for line in dynamic)]
    for problem in problems:
        print(f"{library} {problem}")
    print(f"{library}: {len(exported)} exported, needs {' '.join(needed)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
