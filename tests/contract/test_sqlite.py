"""Every promise of the port, over SQLite in a file."""

from pathlib import Path

import pytest

from state.contract import checks
from state.contract.factory import FileFactory

globals().update(checks())


@pytest.fixture
def state_contract(tmp_path: Path) -> FileFactory:
    """Give a file that goes with the test's folder."""
    return FileFactory(f"sqlite:{tmp_path / 'state.db'}")
