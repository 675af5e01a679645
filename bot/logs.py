"""
Write log lines: for people in a terminal, as JSON elsewhere, never with a secret in them.

Lines of this program (structlog) and of the libraries below it (logging) take one way, so that
what is bound during a turn is on all of them, and what is hidden is hidden in all of them.
"""

import json
import logging
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TextIO, cast

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.config.model import LogSettings
from bot.redaction import hide_named, redact

#: Keys whose value is something that a person wrote, or that we answered.
MESSAGE_TEXT_KEYS = frozenset({"text", "content", "reply", "chunk", "prompt"})

#: Ends of names of environment variables that hold secrets, such as OPENAI_API_KEY.
_SECRET_VARIABLES = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")

#: Starts of warnings by discord.py that mean nothing here: nobody speaks, and the sandbox keeps its
#: rules in clients of discord.py that connect to nothing.
_IDLE_WARNINGS = ("PyNaCl is not installed", "davey is not installed", "Guilds intent seems")

_BEFORE: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
)


def configure(
    settings: LogSettings, *, secrets: Iterable[str] = (), stream: TextIO | None = None
) -> None:
    """
    Send all log lines to *stream* (standard error) in the form that *settings* ask for.

    *secrets* are exact texts that must not appear; what has the shape or the name of a secret is
    hidden without being listed. A later call replaces an earlier one.
    """
    out: TextIO = stream or sys.stderr
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_BEFORE,
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    output: logging.Handler = _Output(out)
    output.setFormatter(_formatter(settings, _spellings(secrets), colors=out.isatty()))
    root = logging.getLogger()
    for earlier in [one for one in root.handlers if isinstance(one, _Output)]:
        root.removeHandler(earlier)
    output.addFilter(lambda record: not str(record.msg).startswith(_IDLE_WARNINGS))
    root.addHandler(output)
    set_level(settings)


def set_level(settings: LogSettings) -> None:
    """Write no lines below the level that *settings* ask for."""
    logging.getLogger().setLevel(settings.level.upper())
    # discord.py's debug lines repeat whole payloads, and with them what people wrote.
    quiet = logging.NOTSET if settings.message_text else logging.INFO
    logging.getLogger("discord").setLevel(quiet if settings.level == "debug" else logging.NOTSET)


def bound(
    *,
    conversation: str | None = None,
    turn: str | None = None,
    token: int | None = None,
    shard: int | None = None,
) -> AbstractContextManager[None]:
    """
    Put these ids on every line logged inside the block, by libraries as well.

    *token* is the number of a lease. What is None stays as it is in the block around this one.
    """
    given = {"conversation": conversation, "turn": turn, "token": token, "shard": shard}
    return structlog.contextvars.bound_contextvars(
        **{name: value for name, value in given.items() if value is not None}
    )


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Pick the values that must not be logged from environment variables, by their names."""
    return [value for name, value in environ.items() if name.upper().endswith(_SECRET_VARIABLES)]


class _Output(logging.StreamHandler[TextIO]):
    """Write finished lines; of one that cannot be finished say only that there was one."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        # logging's own prints the raw message and arguments, secrets and all.
        self.stream.write(f"A log line of {record.name} could not be written.\n")


def _formatter(
    settings: LogSettings, secrets: Collection[str], *, colors: bool
) -> ProcessorFormatter:
    console = settings.format == "console" or (settings.format == "auto" and colors)
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback
        )
        if console
        else structlog.processors.JSONRenderer(ensure_ascii=False, default=repr)
    )

    def without_secrets(_: WrappedLogger, __: str, line: object) -> str:
        # By now the renderer has made text of everything, reprs of foreign objects included.
        return redact(str(line), secrets)

    return ProcessorFormatter(
        # The arguments are hidden by name while they still have names, then folded in by us.
        use_get_message=False,
        pass_foreign_args=True,
        foreign_pre_chain=[_fold_in_arguments, *_BEFORE],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            # A person reads the clock on the wall, a machine sorts lines from many places.
            structlog.processors.TimeStamper("%H:%M:%S" if console else "iso", utc=not console),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            *([] if settings.message_text else [_measure_message_text]),
            _hide_named,
            renderer,
            without_secrets,
        ],
    )


def _spellings(secrets: Iterable[str]) -> list[str]:
    """List each secret as it reads plain, inside JSON, and inside a repr; longest first."""
    spelled = {
        spelling
        for secret in secrets
        for spelling in (secret, json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1])
    }
    return sorted(spelled, key=len, reverse=True)


def _fold_in_arguments(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    arguments = hide_named(event.pop("positional_args", None))
    if arguments:
        try:
            event["event"] %= arguments
        except (TypeError, ValueError, KeyError):
            event["event"] = f"{event['event']} {arguments!r}"
    return event


def _measure_message_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for key in MESSAGE_TEXT_KEYS & event.keys():
        value = event[key]
        event[key] = f"({len(value)} characters)" if isinstance(value, str) else "(not logged)"
    return event


def _hide_named(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return cast("EventDict", hide_named(event))
