"""
A Discord on this machine: REST and gateway on loopback, and a page to chat in.

The bot's side is discord.py as it is, with two addresses changed. `Sandbox` is what tests use,
`serve` what the command line runs; the control API is described in `sandbox.control`.
"""

from sandbox.limits import DISCORD, UNLIMITED, Limit, Limits
from sandbox.places import NotPossible, Person
from sandbox.server import Sandbox, serve
from sandbox.supervision import Supervisor
from sandbox.world import World

__all__ = [
    "DISCORD",
    "UNLIMITED",
    "Limit",
    "Limits",
    "NotPossible",
    "Person",
    "Sandbox",
    "Supervisor",
    "World",
    "serve",
]
