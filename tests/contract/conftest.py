"""The suite's fixtures; each module here says which database they are of."""

import pytest

from state.contract.fixtures import clock, one, two

__all__ = ["clock", "one", "two"]

# Before they are imported: their asserts are as telling as a test's.
pytest.register_assert_rewrite("tests.contract.agreement", "tests.contract.alike")
