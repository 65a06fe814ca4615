"""Makes the launcher importable; every test of it begins with this import."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
RUN = REPOSITORY / "tools" / "lab" / "run"

sys.path.insert(0, str(REPOSITORY / "tools" / "lab"))
