"""
The conformance suite: what every adapter of `state.ports.State` must pass.

Each test is one promise of the port, whose number CHECKS.md explains. It runs on two handles to one
database, under a clock that the test moves, and never asks which adapter it drives. For an adapter
that `state.connect` knows:

    STATE_URL=redis://localhost/9 python -m pytest --pyargs state.contract

Any other adapter names a `StateFactory` of its own, made anew for each test:

    # my_adapter.py
    class OneDatabase:
        def __init__(self):
            self.name = create_an_empty_database()

        def make(self, clock):  # called for each handle; clock() tells seconds
            return MyState(self.name, clock=clock)

        async def clean(self):  # called once the test has closed its handles
            drop_the_database(self.name)

    STATE_FACTORY=my_adapter:OneDatabase python -m pytest --pyargs state.contract

A factory that can break its database offers `faults`, see `state.contract.faults`; else what needs
them is skipped. Without either variable the suite runs over the memory adapter.

A suite that finds no fault proves nothing until it has found some: `state.contract.broken` holds
adapters with one fault each, and names the tests that must catch it.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType

import pytest

# Before any of them is imported: a failing assert has to show its values in helpers too, and when
# the tests are collected from somewhere else.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))


def checks() -> dict[str, FunctionType]:
    """
    Return every test of the suite by its name.

    A test module that runs the suite over several adapters at once puts them among its own names:
    `globals().update(checks())`. Raise `ValueError` when two tests share a name, since one of them
    would then never run.
    """
    found: dict[str, FunctionType] = {}
    for module in iter_modules(__path__):
        if not module.name.startswith("test_"):
            continue
        for name, value in vars(import_module(f"{__name__}.{module.name}")).items():
            if name.startswith("test_") and isinstance(value, FunctionType):
                if name in found:
                    raise ValueError(f"{module.name}.{name}: another test has this name")
                found[name] = value
    return found
