"""`/queue`: who is answered, and who waits."""

from cogs.control import told_queue
from state.outcomes import Running, View
from tests.unit.fakes import ADA, BO, message


def test_those_who_wait_are_not_taken_for_those_who_are_answered() -> None:
    """A bare list of names below the turn left open what the names were."""
    asked, waits = message(author=ADA).inbound(), message(author=BO).inbound()
    turn = Running(asked.id, ADA.id, (asked,), age=8.2, live=True)
    view = View(turn, (waits, waits), subscribed=False, wake=None)
    assert told_queue(view).splitlines() == [
        f"Answering {ADA.name}, for 8 s.",
        "Waiting:",
        f"1. {BO.name}",
        f"2. {BO.name}",
    ]
