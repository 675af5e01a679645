"""
What tests of cogs are made of: `converse` for a conversation without sockets.

    shown = await converse(Parrot, "hello world")
    assert shown.text == "hello world "

`bot.testing.fixtures` is a pytest plugin over the sandbox, for what only a real client shows.
"""

from bot.testing.conversation import Conversation, converse
from bot.testing.shown import Run, Shown, ShownMessage
from bot.testing.watched import CrashPoint

__all__ = ["Conversation", "CrashPoint", "Run", "Shown", "ShownMessage", "converse"]
