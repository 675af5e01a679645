"""The ids of buttons: what they say, and what a forged one gets."""

import pytest

from bot.buttons import Act, Press, read, retry_button, stop_button


def test_a_buttons_id_says_what_to_do_and_to_which_turn() -> None:
    """Ids of edited messages hold an @, which is no separator."""
    assert read(stop_button("123@456").id) == Press(Act.STOP, "123@456")
    assert read(retry_button("7").id) == Press(Act.RETRY, "7")
    assert len(stop_button("9" * 20 + "@" + "9" * 13).id) <= 100  # Discord's longest


@pytest.mark.parametrize(
    "forged",
    ["", "interlock", "interlock:stop", "interlock:stop:", "interlock:x:1", "other:stop:1"],
)
def test_what_is_none_of_our_buttons_is_nothing(forged: str) -> None:
    """Whatever a client sends as a custom id."""
    assert read(forged) is None
