"""The store for tests of the bot's core."""

from bot.testing.store import LEASED, Clock, Store, Trouble

__all__ = ["LEASED", "Clock", "Store", "Trouble"]
