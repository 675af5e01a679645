"""What the sandbox may answer other than Discord's schema says, each with the reason."""

from dataclasses import dataclass

from tests.discord.schema.check import Fault


@dataclass(frozen=True, slots=True)
class Allowed:
    """Allow for one fault; `answer` and `place` as in `Fault`."""

    answer: str
    place: str
    reason: str

    def covers(self, fault: Fault) -> bool:
        """Tell whether this fault is meant."""
        return (fault.answer, fault.place) == (self.answer, self.place)


ALLOWED = (
    Allowed(
        "POST /channels/{channel_id}/messages 400",
        "errors/message_reference/_errors",
        "The schema takes integers for codes; Discord's reference shows names, such as"
        " `BASE_TYPE_REQUIRED`, and names are what libraries read.",
    ),
)
