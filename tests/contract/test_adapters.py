"""Every promise of the port, over every adapter that comes with it."""

from state.contract import checks

globals().update(checks())
