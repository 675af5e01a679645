"""What a step does about a record that it cannot read, when another has set it aside already."""

from state.errors import Unreadable
from state.mending import mended
from state.values import Conversation


class Store:
    """A store in which one record cannot be read, until somebody has set it aside."""

    def __init__(self) -> None:
        """Begin with the record."""
        self.foreign = True

    @mended
    async def view(self, conversation: Conversation) -> str:
        """Read the conversation."""
        if self.foreign:
            raise Unreadable(f"{conversation.id} has a record that cannot be read")
        return "read"

    async def _set_aside(self, _: Conversation) -> None:
        """Find nothing, since another call was a moment earlier."""
        self.foreign = False


async def test_a_step_goes_on_after_another_has_set_a_record_aside() -> None:
    """Of two that met it at once, one finds nothing left to do, and is no worse off."""
    assert await Store().view(Conversation("guild/1", "10")) == "read"
