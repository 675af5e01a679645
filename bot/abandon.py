"""What is left of a conversation whose channel is gone: nothing that would wake it again."""

from bot.insist import insist
from state.ports import State
from state.values import Conversation, Lease


async def abandon(state: State, lease: Lease) -> None:
    """
    Take all that waits into the running turn, so that it ends with it, and silence the rest.

    Transcript and state stay: a channel that is only hidden may come back.
    """
    await insist(lambda: state.take(lease, "channel gone"))
    await unhear(state, lease.conversation)


async def unhear(state: State, conversation: Conversation) -> None:
    """Follow *conversation* no more, and drop its timers."""
    await insist(lambda: state.unsubscribe(conversation))
    cursor: str | None = None
    while True:
        page = await state.schedules(conversation.owner, cursor)
        for scheduled in page.timers:
            if scheduled.conversation == conversation:
                await state.unschedule(conversation, scheduled.timer.id)
        if (cursor := page.cursor) is None:
            return
