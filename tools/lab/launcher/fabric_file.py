"""The fabric file of a softverbs run, as far as the launcher itself has to know it.

The device reads all of it and says what is wrong with it; docs/lab.md describes the file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError

# What a file means that leaves them out.
_HOSTS = 1
_RAILS = 2
_DEVICE_PREFIX = "soft_"


@dataclass(frozen=True)
class FabricFile:
    """hosts and rails: None where the file has no [hosts]: whoever runs it decides."""

    path: Path
    hosts: int | None
    rails: int | None
    device_prefix: str


def read_fabric_file(path: Path) -> FabricFile:
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise LabError(f"The fabric file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"The fabric file {path} is not TOML: {error}.") from None
    hosts = content.get("hosts")
    if hosts is None:
        return FabricFile(path, None, None, _DEVICE_PREFIX)
    if not isinstance(hosts, dict):
        raise LabError(f"{path}: hosts is not a table; write [hosts], then count = 2.")
    prefix = hosts.get("device_prefix", _DEVICE_PREFIX)
    return FabricFile(
        path,
        _whole_number(path, hosts, "count", _HOSTS),
        _whole_number(path, hosts, "rails", _RAILS),
        prefix if isinstance(prefix, str) else _DEVICE_PREFIX,
    )


def _whole_number(path: Path, hosts: dict[str, Any], key: str, default: int) -> int:
    value = hosts.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise LabError(f"{path}: hosts.{key} is not a whole number; write {key} = {default}.")
    return value


def complete_text(text: str, hosts: int, rails: int) -> str:
    """The text, with hosts and rails at its end, so that lines keep their numbers, if it has none."""
    if "hosts" in tomllib.loads(text):
        return text
    separator = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{separator}[hosts]\ncount = {hosts}\nrails = {rails}\n"
