"""Every promise of the port, over SQLite in a file."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from state.contract import checks
from state.contract.factory import Clock, FileFactory
from state.contract.scene import ELSEWHERE, HERE, THERE
from state.contract.test_forgetting import SECRET, all_forgotten, filled
from state.keys import Owner

globals().update(checks())


@pytest.fixture
def state_contract(tmp_path: Path) -> FileFactory:
    """Give a file that goes with the test's folder."""
    return FileFactory(f"sqlite:{tmp_path / 'state.db'}")


async def test_forgetting_an_owner_leaves_nothing_of_it_in_the_file(tmp_path: Path) -> None:
    """No row names it or holds a word of it, but its usage. Contract 70."""
    file = tmp_path / "state.db"
    state = FileFactory(f"sqlite:{file}").make(Clock())
    await state.open()
    for home in (HERE, THERE, ELSEWHERE):
        await filled(state, home)
    assert any(SECRET.hex() in row for row in rows_beside(file))
    for home in (HERE, ELSEWHERE):
        await all_forgotten(state, Owner(home.owner), 1)
    left = rows_beside(file)
    await state.close()
    assert not any(SECRET.hex() in row for row in left)
    named = [row for row in left if HERE.owner in row or ELSEWHERE.owner in row]
    assert len(named) == 2
    assert all(row.startswith('INSERT INTO "usage"') for row in named)


def rows_beside(file: Path) -> list[str]:
    """Return every row of every table as text, of the one database made beside *file*."""
    (database,) = file.parent.glob(f"{file.name}.????????????????")
    with closing(sqlite3.connect(database)) as connection:
        return [
            re.sub("X'([0-9A-F]*)'", lambda blob: blob[1].lower(), line)
            for line in connection.iterdump()
            if line.startswith("INSERT")
        ]
