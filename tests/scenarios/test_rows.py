"""That no row of the list was left out, and none is said to be tested where it is not."""

import re
from pathlib import Path

from tests.discord.bots import ROOT
from tests.scenarios.rows import ELSEWHERE, IDS, LATER, NOT_OURS

HERE = Path(__file__).parent


def rows_with_a_test() -> set[str]:
    """The ids in the names of the tests of this folder."""
    return {
        row
        for file in HERE.glob("test_*.py")
        for row in re.findall(r"def test_(B\d{2,3})_", file.read_text())
    }


def test_each_row_has_a_test_or_a_word_of_why_not() -> None:
    """And what is no row has neither."""
    assert rows_with_a_test() | set(ELSEWHERE) | set(NOT_OURS) | set(LATER) == IDS


def test_each_test_that_a_row_names_exists() -> None:
    """A test that is renamed or removed takes its row along."""
    for row, tests in ELSEWHERE.items():
        for test in tests:
            file, _, name = test.partition("::")
            assert f"def {name}(" in (ROOT / file).read_text(), f"{row}: there is no {test}"


def test_a_row_without_a_test_is_one_that_cannot_be_tested() -> None:
    """What a word alone stands for is listed here too, so that it does not grow unnoticed."""
    assert IDS - rows_with_a_test() - set(ELSEWHERE) == {"B18", "B39"}
