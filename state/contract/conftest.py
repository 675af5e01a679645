"""The suite's fixtures for `pytest --pyargs state.contract`."""

from state.contract.fixtures import clock, one, state_contract, two

__all__ = ["clock", "one", "state_contract", "two"]
