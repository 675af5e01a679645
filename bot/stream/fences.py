"""
Code fences: which one is open, how it is closed at a cut and opened again after it.

Writers mean CommonMark and Discord reads something laxer, so the rules here are what both agree
on and, where they differ, what keeps a reader's page whole. A fence opens at the start of a line,
or at the end of one ("like this: ```py"); three backticks amid a sentence, or closed on their own
line, are no fence. A backtick fence is closed by a run as long at the start of a line, whatever
follows, or at the end of one, for that is where Discord closes it; a tilde fence, which Discord
shows as text, by a line of its own.
"""

import re
from dataclasses import dataclass

import regex

from bot.stream.glyphs import BLANK, last_visible

#: Backticks or tildes of a fence. Nesting needs a few; a longer run is decoration.
LONGEST_RUN = 8
#: Quote markers and indentation that are repeated before a closing run.
LONGEST_LEAD = 8
#: Characters of an info string; a longer one is prose rather than a language.
LONGEST_INFO = 20

#: Units that closing a fence may take: a line break, the lead and the run.
LONGEST_CLOSING = 1 + LONGEST_LEAD + LONGEST_RUN
#: Units that opening it again may take: quote markers twice, run, language and a line break.
LONGEST_OPENING = 2 * (LONGEST_LEAD + 1) + LONGEST_RUN + LONGEST_INFO + 1

#: Quote markers and blanks of any kind: what a page begins with may be trimmed from it.
_LEAD = regex.compile(f"[>{BLANK}]*")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BACKTICKS = re.compile(r"`+")
_TILDES = re.compile(r"~{3,}")
#: What Discord takes for the name of a language.
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]*")


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence."""

    run: str
    #: Empty when there is none, or none worth repeating.
    language: str
    #: Quote markers and indentation of the line that opened it.
    lead: str

    def closing(self, line: str) -> str:
        """Return what closes the fence after *line*, the last one written so far."""
        written = _trimmed(line)
        begun = written[_after_lead(written) :]
        if written == line and begun and begun != self.run and self.run.startswith(begun):
            # The closing run is on its way: complete it, as the next characters will.
            return self.run[len(begun) :]
        if written and not begun:
            # So is its line, in a quote.
            return f" {self.run}"
        return f"\n{self.lead}{self.run}"

    def opening(self, *, mid_line: bool) -> str:
        """Return what opens the fence again on a new page, which may begin in mid-line."""
        quote = self.lead[: self.lead.rfind(">") + 1].lstrip()
        quote = f"{quote} " if quote else ""
        return f"{quote}{self.run}{self.language}\n{quote if mid_line else ''}"

    def closes(self, line: str) -> bool:
        """Tell whether *line*, without its line break, closes this fence."""
        if self.run not in line:
            return False
        inside = _trimmed(line)[_after_lead(line) :]
        if self.run.startswith("~"):
            return not inside.strip("~")
        return inside.startswith(self.run) or inside.endswith(self.run)

    def may_close(self, text: str) -> bool:
        """Tell whether *text* begins with a closing run, or with what may become one."""
        return self.run.startswith(text[_after_lead(text) :][: len(self.run)])


def fence_after(fence: Fence | None, line: str) -> Fence | None:
    """Return the fence that is open after *line*, given the one that was open before it."""
    if fence is not None:
        return None if fence.closes(line) else fence
    if "```" in line:
        return _opened_by_backticks(_trimmed(line))
    return _opened_by_tildes(_trimmed(line)) if "~~~" in line else None


def _opened_by_tildes(line: str) -> Fence | None:
    run = _TILDES.match(line, _after_lead(line))
    if run is None or "~" in line[run.end() :]:
        return None
    return _fence(line, run, leads=True)


def _opened_by_backticks(line: str) -> Fence | None:
    run = _unpaired(line)
    if run is None:
        return None
    start = _after_lead(line)
    item = _ITEM.match(line, start)
    leads = run.start() in {start, item.end() if item else start} and "`" not in line[run.end() :]
    if leads or _LANGUAGE.fullmatch(line, run.end()):
        return _fence(line, run, leads=leads)
    return None


def _unpaired(line: str) -> re.Match[str] | None:
    """Return the last run of three backticks or more that no equal run on the line closes."""
    found = None
    runs = list(_BACKTICKS.finditer(line))
    lengths = [len(run.group()) for run in runs]
    index = 0
    while index < len(runs):
        if lengths[index] in lengths[index + 1 :]:
            index = lengths.index(lengths[index], index + 1)
        elif lengths[index] >= len("```"):
            found = runs[index]
        index += 1
    return found


def _fence(line: str, run: re.Match[str], *, leads: bool) -> Fence | None:
    """Return the fence that *run* opens, unless it is longer than any; *leads*: the line."""
    if len(run.group()) > LONGEST_RUN:
        return None
    info = line[run.end() :].strip()
    language = _LANGUAGE.match(info) if len(info) <= LONGEST_INFO else None
    # The content of a list item is indented by the width of its marker.
    lead = re.sub(r"[^>\s]", " ", line[: run.start()]) if leads else line[: _after_lead(line)]
    return Fence(
        run.group(),
        language.group() if language else "",
        lead if len(lead) <= LONGEST_LEAD else "",
    )


def _after_lead(line: str) -> int:
    """Return where the quote markers and the indentation of *line* end."""
    found = _LEAD.match(line)
    return found.end() if found else 0


def _trimmed(line: str) -> str:
    """Return *line* up to its last visible character: blanks at its end mean nothing."""
    last = last_visible(line)
    return "" if last is None else line[: last + 1]
