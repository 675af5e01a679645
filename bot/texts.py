"""Every text of our own that people see, in one place."""

from bot.endings import Ending

#: Put behind a partial reply, in Discord's small print.
MARKS = {
    Ending.STOPPED: "\n-# ⏹ stopped",
    Ending.KILLED: "\n-# ⏹ ended by /kill",
    Ending.SUPERSEDED: "\n-# ⤵ going on below",
    Ending.FAILED: "\n-# ⚠ something went wrong here; the reply is incomplete",
}

APOLOGY = "-# ⚠ Something went wrong and I had to give this one up. Please ask again."

#: Before a reply that could not take the place of the command's own response.
FOR = "<@{person}> "
ASKED = "-# Asked by <@{person}> <t:{at}:t>:\n"

FILE_PAGE = "-# The rest of this reply, as a file:"

#: Said in the place of what may not be sent, by what it is.
LEFT_OUT = {
    "embeds": "-# ⚠ left out: an embed, which I may not show here",
    "files": "-# ⚠ left out: a file, which I may not send here",
}

STORE_AWAY = "My memory does not answer just now; please try again in a moment."
STOP_BUTTON = "Stop"
RETRY_BUTTON = "Try again"
ALREADY_OVER = "That reply is over already."
NOT_YOURS = "Only the person who asked, or a moderator, can do that."
ONLY_ITS_AUTHOR = "This button is for the person who asked."
EXPIRED_BUTTON = "This button does not work any more; please ask again."
STOPPED_BY_BUTTON = "Stopped."
TRYING_AGAIN = "Trying again; it takes its turn like any other message."

WAITING = "⏳"
EMPTY = "🤷"
STOPPED = "⏹️"

INBOX_FULL = "-# Too much is waiting here already; please try again in a little while."
SHARE_FULL = "-# {count} messages of yours are waiting already; I will get to those first."
CENSORED = "-# This server's AutoMod did not let my reply through."
BUSY = "-# I am busy here just now; please ask again when I am done."
PERSON_RATE = "-# That is a lot in one minute; please wait a little."
OWNER_RATE = "-# This place has used up its replies for today; ask again tomorrow."
DROPPED = "-# Your message had to make room for newer ones and will not be answered."
EXPIRED = "-# Your message waited too long and will not be answered."
NOT_ALLOWED = "I may not answer you here."
COMMAND_FAILED = "Something went wrong; please try again."
