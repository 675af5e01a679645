"""
The schema of a file: its number, its migrations, and whether it is what its number says.

A number alone is not believed: a file that an unfinished version made, or that somebody changed by
hand, would else fail at the first statement that meets the difference.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from importlib.resources import files

from state.errors import StateInvalid

#: "ILCK", in the header field that SQLite leaves to the application.
APPLICATION_ID = 0x494C434B


def check_owner(connection: sqlite3.Connection, path: str) -> None:
    """Raise `StateInvalid` for the database of another program."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if owner != APPLICATION_ID and (owner or objects):
        raise StateInvalid(f"{path} is the database of another program")


def migrate(connection: sqlite3.Connection, path: str, partitions: int) -> None:
    """Run the migrations that the file has not seen; its `user_version` counts them."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    scripts = migrations()
    if version > len(scripts):
        raise StateInvalid(
            f"{path} has schema {version}, newer than {len(scripts)}, the newest that this "
            "version of Interlock knows"
        )
    _check(connection, path, version)
    run(connection, scripts[version:])
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("INSERT INTO store VALUES (?)", (partitions,))
        connection.executemany(
            "INSERT INTO counter VALUES (?, 0)", ((number,) for number in range(partitions))
        )
    if version < len(scripts):
        connection.execute(f"PRAGMA user_version = {len(scripts)}")


def _check(connection: sqlite3.Connection, path: str, version: int) -> None:
    """Raise `StateInvalid` unless the tables and indexes of *version* are there as it has them."""
    found = _schema(connection)
    wrong = [
        name for name, sql in _made(tuple(migrations()[:version])).items() if found.get(name) != sql
    ]
    if wrong:
        raise StateInvalid(
            f"{path} says that it has schema {version}, but {', '.join(sorted(wrong))} differ from "
            "it: an unfinished version of Interlock made it, or somebody changed it; move the file "
            "away to begin with a new one"
        )


@cache
def _made(scripts: tuple[str, ...]) -> Mapping[str, str]:
    """Return the schema that *scripts* make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        run(connection, scripts)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> dict[str, str]:
    """Return what made each table and index, without comments and in one line, by its name."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {name: " ".join(re.sub("--.*", "", sql).split()) for name, sql in rows}


def run(connection: sqlite3.Connection, scripts: Sequence[str]) -> None:
    """Run scripts within the open transaction."""
    for script in scripts:
        for statement in statements(script):
            connection.execute(statement)


def migrations() -> list[str]:
    """Read the migrations, oldest first."""
    folder = files("state.sqlite") / "migrations"
    scripts = (entry for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [entry.read_text() for entry in sorted(scripts, key=lambda entry: entry.name)]


def statements(script: str) -> list[str]:
    """Split a script into statements; `executescript` would commit the open transaction first."""
    found, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found
