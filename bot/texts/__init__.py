"""
Every text of our own that people see, in the language of the place where it is said.

A language is a TOML file in this package; `en.toml` says what each text is for. The operator may
say any of them differently, or add a language, in `[texts.<language>]`; what a language lacks is
said in English.
"""

import string
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files

# Marks that need no language.
WAITING = "⏳"
EMPTY = "🤷"
STOPPED = "⏹️"

#: Before what a timer says in a guild.
FOR = "<@{person}> "

#: The language of last resort, which has every text.
ENGLISH = "en"

#: Characters of one text. Relation: with everything filled in, it fits a message of 2,000.
LONGEST = 500

#: The texts on buttons, and the characters that Discord allows there.
LABELS, LABEL = ("stop_button", "retry_button"), 80


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language; see `en.toml` for what each is for and what it is filled with."""

    mark_stopped: str
    mark_killed: str
    mark_superseded: str
    mark_failed: str
    apology: str
    asked_by: str
    file_page: str
    left_out_embeds: str
    left_out_files: str
    inbox_full: str
    share_full: str
    busy: str
    person_rate: str
    owner_rate: str
    dropped: str
    expired: str
    censored: str
    not_allowed: str
    store_away: str
    command_failed: str
    stop_button: str
    retry_button: str
    already_over: str
    not_yours: str
    only_its_author: str
    expired_button: str
    stopped_by_button: str
    trying_again: str
    stopped_yours: str
    stopped_theirs: str
    dropped_one: str
    dropped_many: str
    withdrew: str
    nothing_here: str
    nothing_of_yours: str
    nothing_runs: str
    reply_of_theirs: str
    just_ended: str
    answering: str
    going_on: str
    waiting: str
    and_more: str
    begun_anew: str
    follow_right: str
    following: str
    unfollow_right: str
    unfollowed: str
    usage_server: str
    usage_direct: str
    forget_warning: str
    forgotten: str
    exported: str
    time_unknown: str
    time_passed: str
    time_too_far: str
    may_not_write: str
    too_many_reminders: str
    reminder_set: str
    no_reminders: str
    reminder_cancelled: str
    no_such_reminder: str
    only_reminders: str

    @property
    def left_out(self) -> Mapping[str, str]:
        """What is said in the place of what may not be sent, by its kind."""
        return {"embeds": self.left_out_embeds, "files": self.left_out_files}

    def mark(self, ending: str) -> str:
        """What is put behind a reply that ended so, on a line of its own."""
        return f"\n{getattr(self, f'mark_{ending}')}"


#: The names of all texts.
NAMES = tuple(field.name for field in fields(Texts))


@cache
def shipped(language: str) -> Texts:
    """Read a language of ours, English for one that is none."""
    file = files(__name__) / f"{language}.toml"
    if language == ENGLISH or not file.is_file():
        return Texts(**_read(ENGLISH))
    return replace(shipped(ENGLISH), **_read(language))


@cache
def shipped_languages() -> tuple[str, ...]:
    """Name the languages of ours, in alphabetical order."""
    names = sorted(file.name for file in files(__name__).iterdir())
    return tuple(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def _read(language: str) -> dict[str, str]:
    return tomllib.loads((files(__name__) / f"{language}.toml").read_text(encoding="utf-8"))


def worded(language: str, own: Mapping[str, Mapping[str, str]]) -> Texts:
    """Answer the texts of *language* with what the operator's *own* tables say differently."""
    return replace(shipped(language), **own.get(language, {}))


def complaint(name: str, text: str) -> str | None:
    """Say what is wrong with an operator's *text* of that known *name*; None: nothing."""
    most = LABEL if name in LABELS else LONGEST
    if len(text) > most:
        return f"is {len(text)} characters long; at most {most} are allowed"
    if not text.strip():
        return "is empty; leave the key out to have our own text"
    try:
        asked = _blanks(text)
    except ValueError as error:
        return f"has braces that cannot be read ({error}); write {{{{ for a brace"
    if unknown := sorted(asked - _blanks(getattr(shipped(ENGLISH), name))):
        known = ", ".join(
            f"{{{blank}}}" for blank in sorted(_blanks(getattr(shipped(ENGLISH), name)))
        )
        return f"cannot be filled in with {{{unknown[0]}}}; it may have {known or 'no braces'}"
    return None


def _blanks(text: str) -> frozenset[str]:
    """The words in braces."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


# --- where it is said ---------------------------------------------------------------------------

_spoken: ContextVar[Texts | None] = ContextVar("texts", default=None)


def speak(texts: Texts) -> None:
    """Let this task, and those that it starts, say these."""
    _spoken.set(texts)


def here() -> Texts:
    """Answer the texts of the place that this task speaks in; in English where none was named."""
    return _spoken.get() or shipped(ENGLISH)
