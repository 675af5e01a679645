"""What a turn keeps: the conversation's state, which lands with the end of the turn."""

import json

from state.outcomes import Started


class Kept:
    """What one run of a turn has found in the store, and will leave there."""

    def __init__(self, started: Started) -> None:
        """Begin with what *started* has found."""
        self._found = started.state
        #: The new state, packed; None leaves the stored one as it is.
        self.state: bytes | None = None

    def found(self) -> object:
        """Unpack the state anew, so that a change made in place is seen as one."""
        return json.loads(self._found) if self._found is not None else None

    def seal(self, state: object) -> None:
        """Take what the state has become; raise `TypeError` if it is not JSON."""
        if state != self.found():
            self.state = json.dumps(state).encode()
