"""The list of checks: it names every test of the suite, and every promise has one."""

import re
from pathlib import Path

import state.contract
from state.contract import checks

LIST = Path(state.contract.__file__).with_name("CHECKS.md")
ROOT = LIST.parents[2]

#: A promise: its number, what it says, and the lines below that name its tests.
PROMISE = re.compile(r"^(\d+)\. (\S.*(?:\n    [^ -].*)*)\n((?:    - `.*`\n)*)", re.MULTILINE)


def listed() -> dict[int, list[str]]:
    """Return what the list names for each number."""
    promises = PROMISE.findall(LIST.read_text())
    return {int(number): re.findall("`(.*)`", below) for number, _, below in promises}


def named(check: object) -> list[int]:
    """Return the numbers that a test says it is about."""
    told = re.search(r"Contract ([\d, \n]+)\.\s*\Z", check.__doc__ or "")
    return [int(number) for number in re.findall(r"\d+", told[1])] if told else []


def test_every_promise_has_its_tests() -> None:
    """Its number is in their docstrings, and they are below it in the list: the same ones."""
    expected: dict[int, list[str]] = {number: [] for number in range(1, 87)}
    for name, check in checks().items():
        numbers = named(check)
        assert numbers, f"{name} is about no promise"
        for number in numbers:
            expected[number].append(name)
    found = listed()
    assert list(found) == list(expected)
    for number, names in expected.items():
        tests = [name for name in found[number] if name.startswith("test_")]
        assert tests == sorted(names), number


def test_what_is_shown_elsewhere_is_there() -> None:
    """A promise without a test in the suite names the files that hold it."""
    for number, names in listed().items():
        files = [name for name in names if "/" in name]
        assert names, number
        assert files == [name for name in names if not name.startswith("test_")], number
        for file in files:
            assert (ROOT / file).is_file(), file
