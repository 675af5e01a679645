"""What a step does about a record that it cannot read: have it set aside, and begin again."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar, cast

from state.errors import Unacceptable, Unreadable
from state.values import Conversation, Lease

Step = TypeVar("Step", bound=Callable[..., Awaitable[Any]])

#: What reading foreign bytes ends in. Some are a caller's mistake, too: then it is met again.
UNREADABLE = (Unreadable, Unacceptable, ValueError, LookupError, TypeError, AttributeError)


def mended(step: Step) -> Step:
    """
    Let a step about one conversation, its first argument, go on without what it cannot read there.

    Its adapter has a method `_set_aside(conversation)`, which makes dead letters of such records.
    The step begins again even if there are none: another may have set them aside a moment earlier.
    """

    @wraps(step)
    async def mending(
        store: Any,  # noqa: ANN401 (an adapter)
        where: Conversation | Lease,
        *arguments: object,
        **named: object,
    ) -> object:
        try:
            return await step(store, where, *arguments, **named)
        except UNREADABLE:
            conversation = where if isinstance(where, Conversation) else where.conversation
            await store._set_aside(conversation)  # noqa: SLF001 (of its own)
        return await step(store, where, *arguments, **named)

    return cast("Step", mending)
