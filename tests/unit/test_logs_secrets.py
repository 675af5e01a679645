"""What must never be in a log: canaries, planted on every way into it, looked for in each form."""

import functools
import io
import json
import logging
import time
from collections.abc import Callable

import pytest
import structlog

from bot import logs
from bot.redaction import redact
from tests.unit.discord_stub import TOKEN

#: Known to the logs by its exact text alone: it has neither the shape nor the name of a secret.
PASSPHRASE = 'canary "with" quotes'

Opened = Callable[..., io.StringIO]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Claim to be one."""
        return True


@pytest.fixture
def opened(logs_opened: Opened) -> Opened:
    """Open logs that were told of both secrets."""
    return functools.partial(logs_opened, secrets=(TOKEN, PASSPHRASE))


def raise_with(*arguments: object) -> None:
    """Raise an error that holds *arguments*."""
    raise ValueError(*arguments)


class Credentials:
    """An object whose repr tells what it holds, as those of many libraries do."""

    def __repr__(self) -> str:
        return "Credentials(user='ada', password='canary-in-a-repr', retries=3)"


def _log_event_value() -> None:
    structlog.get_logger("t").info("seen", value=f"the token is {TOKEN}.")


def _log_event_itself() -> None:
    structlog.get_logger("t").info(f"the token is {TOKEN}")


def _log_known_text() -> None:
    structlog.get_logger("t").info("seen", value=PASSPHRASE, values=[{"deep": PASSPHRASE}])


def _log_named_keys() -> None:
    structlog.get_logger("t").info(
        "seen",
        password="canary",
        Authorization="Bot canary",
        api_key="canary",
        client_secret=b"canary",
        bot_token="canary",
    )


def _log_nested_keys() -> None:
    structlog.get_logger("t").info(
        "seen", given={"a": [{"token": "canary"}, ("x", {"secret": "canary"})]}
    )


def _log_url() -> None:
    structlog.get_logger("t").info("seen", url="redis://user:canary@p@host:6379/0?password=canary")


def _log_object() -> None:
    structlog.get_logger("t").info("seen", value=Credentials(), values=[Credentials()])


def _log_positional_arguments() -> None:
    structlog.get_logger("t").info("seen %s and %s", TOKEN, PASSPHRASE)


def _log_exception() -> None:
    try:
        raise_with(PASSPHRASE, TOKEN, {"password": "canary"}, Credentials(), "redis://:canary@h/0")
    except ValueError:
        structlog.get_logger("t").exception("failed", token="canary")


def _log_chained_exception() -> None:
    try:
        try:
            raise_with(TOKEN)
        except ValueError as cause:
            raise RuntimeError("authorization: Bot canary") from cause
    except RuntimeError:
        logging.getLogger("asyncio").exception("failed")


def _log_stdlib_arguments() -> None:
    logging.getLogger("aiohttp.client").warning(
        "headers %s of %s, %d", {"Authorization": "Bot canary", "X": TOKEN}, PASSPHRASE, 3
    )


def _log_stdlib_mapping() -> None:
    logging.getLogger("discord.http").warning("signed in as %(token)s", {"token": "canary"})


def _log_stdlib_webhook() -> None:
    path = f"/api/v10/webhooks/123456789012345678/{'canary' * 12}/messages/@original"
    logging.getLogger("discord.webhook").warning("PATCH https://discord.com%s has answered", path)


def _log_stdlib_that_does_not_fit() -> None:
    wrong = "one %s two %d"
    logging.getLogger("x").warning(wrong, TOKEN)


LEAKS = [
    _log_event_value,
    _log_event_itself,
    _log_known_text,
    _log_named_keys,
    _log_nested_keys,
    _log_url,
    _log_object,
    _log_positional_arguments,
    _log_exception,
    _log_chained_exception,
    _log_stdlib_arguments,
    _log_stdlib_mapping,
    _log_stdlib_webhook,
    _log_stdlib_that_does_not_fit,
]


@pytest.mark.parametrize("form", ["json", "console", "colours"])
@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__.removeprefix("_log_"))
def test_no_secret_is_written_on_any_way_in_any_form(
    opened: Opened, leak: Callable[[], None], form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values, nested values, names, URLs, reprs, tracebacks, arguments of other libraries."""
    stream = opened(
        Terminal() if form == "colours" else None, format="json" if form == "json" else "console"
    )
    leak()
    written = stream.getvalue()
    assert "***" in written
    assert "canary" not in written + "".join(capsys.readouterr())
    if form == "json":
        assert isinstance(json.loads(written), dict)


def test_without_the_filter_the_canaries_would_be_seen(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: each of these calls does carry its canary to the stream."""
    monkeypatch.setattr(logs, "redact", lambda text, _: text)
    monkeypatch.setattr(logs, "hide_named", lambda value: value)
    for leak in LEAKS:
        stream = opened(format="json")
        leak()
        assert "canary" in stream.getvalue(), leak.__name__


def test_a_line_that_cannot_be_written_shows_nothing_of_itself(opened: Opened) -> None:
    """The complaint of `logging` itself would print the raw arguments."""

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError(TOKEN)

    stream = opened(format="json")
    logging.getLogger("x").warning("%s", [Broken()])
    assert stream.getvalue() == "A log line of x could not be written.\n"


def test_the_number_of_a_lease_is_written_though_it_is_called_a_token(opened: Opened) -> None:
    """It is what a log is read for; a text under the same name is hidden."""
    for form in ("json", "console"):
        stream = opened(format=form)
        structlog.get_logger("bot").info("claimed", token=17644500001)
        assert "17644500001" in stream.getvalue()


def test_ordinary_words_about_tokens_are_written(opened: Opened) -> None:
    """A filter that eats the explanation is switched off by the first person who needs it."""
    stream = opened(format="console")
    text = "the token was refused; see discord.token: run interlock init (basic checks passed)"
    structlog.get_logger("bot").warning(text, max_tokens=400, token=None)
    assert text in stream.getvalue()
    assert "max_tokens=400" in stream.getvalue()


def test_secrets_are_picked_from_the_environment_by_their_names() -> None:
    """A provider's key is read by its library; we know it by the end of its name."""
    environ = {"OPENAI_API_KEY": "a", "GITHUB_TOKEN": "b", "PATH": "/bin", "DB_PASSWORD": "c"}
    assert logs.secrets_in(environ) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "piece",
    ["a-", "\\", "'", "token", "token='", "'token': '", "://a:", "authorization: a ", "Bearer "],
)
def test_no_text_makes_a_line_expensive(piece: str) -> None:
    """Anybody can write what ends in an error's text; a pattern that backtracks would hang."""
    began = time.perf_counter()
    redact(piece * (200_000 // len(piece)), [TOKEN])
    # Measured: below 0.1 s. A quadratic pattern takes minutes.
    assert time.perf_counter() - began < 5
