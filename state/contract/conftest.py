"""The suite's fixtures for `pytest --pyargs state.contract`."""

from state.contract.fixtures import clock, faults, one, state_contract, two

__all__ = ["clock", "faults", "one", "state_contract", "two"]
