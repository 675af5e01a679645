"""Interlock: one conversation, one speaker at a time. A cog author needs these names alone."""

from bot.endings import Ending
from bot.errors import AttachmentUnreadable, RetryLater
from bot.inbound import Kind, Message, Person, Quoted, Remark, Trigger
from bot.kept import Scope
from bot.replies import Button, Buttons, Chunk, Embed, Field, File, Status
from bot.responders import Aside, Attachment, Interrupted, Responder, Turn
from bot.transcript import Said

__all__ = [
    "Aside",
    "Attachment",
    "AttachmentUnreadable",
    "Button",
    "Buttons",
    "Chunk",
    "Embed",
    "Ending",
    "Field",
    "File",
    "Interrupted",
    "Kind",
    "Message",
    "Person",
    "Quoted",
    "Remark",
    "Responder",
    "RetryLater",
    "Said",
    "Scope",
    "Status",
    "Trigger",
    "Turn",
]
