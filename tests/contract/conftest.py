"""The suite's fixtures; each module here says which database they are of."""

from state.contract.fixtures import clock, one, two

__all__ = ["clock", "one", "two"]
