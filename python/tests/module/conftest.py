import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).parents[3]


@pytest.fixture
def root():
    """The repository."""
    return ROOT


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """Works in an empty folder, with an empty configuration and cache."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
