"""The suite's fixtures; each module here says which database they are of."""

import pytest

from state.contract.fixtures import clock, faults, one, two

__all__ = ["clock", "faults", "one", "two"]

# Before they are imported: their asserts are as telling as a test's.
pytest.register_assert_rewrite(
    *(f"tests.contract.{name}" for name in ("agreement", "agreement_beside", "alike"))
)
