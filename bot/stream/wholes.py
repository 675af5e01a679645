"""What a cut must not tear: mentions, emoji, links, table rows, emphasis and code in a line."""

import re
from collections.abc import Iterator

#: Characters of code, of emphasised or of linked text that are kept together.
LONGEST_PHRASE = 300

#: What the end of the text so far cuts off counts as well: the rest of it may be on its way.
_WHOLES = (
    # A row of a table.
    r"^ [ \t]* (?: > [ \t]* )* \| [^\n]*",
    # A mention of a person, a role, a channel, a command, a page of the server; an emoji; a time.
    r"""
    < (?: @[!&]?\d{1,20} | \#\d{1,20} | /[^<>\n]{1,130} | id:\w{1,20}
        | a?:\w{1,32}:\d{1,20} | t:-?\d{1,20} (?: :\w )? ) >
    """,
    r"""
    < (?: @[!&]?\d{0,20} | \#\d{0,20} | /[^<>\n]{0,130} | i(?: d (?: :\w{0,20} )? )?
        | a?(?: :\w{0,32} (?: :\d{0,20} )? )? | t(?: :-?\d{0,20} (?: :\w? )? )? )? \Z
    """,
    # A link, bare or in the angle brackets that suppress its preview.
    r"(?<! \]\( ) (?<! \]\(< ) <? https?:// [^\s<>]+ >?",
    r"<? h (?: t (?: t (?: p (?: s? (?: : /{0,2} )? )? )? )? )? \Z",
    # The target of a link behind a text, which may itself be all that fits.
    r"(?<= \]\( ) <? https?:// (?: [^\s()] | \( [^\s()]* (?: \) | \Z ) )+",
    # A link behind a text, with or without a title.
    rf"""
    \[ [^\[\]\n]{{1,{LONGEST_PHRASE}}} \]
    \( (?: [^\s()] | \( [^\s()]* (?: \) | \Z ) )*
       (?: \Z | \) | [ ] (?: \Z | " [^"\n]{{0,100}} (?: \Z | " (?: \Z | \) ) ) ) )
    """,
    # A run of marks: a fence's, or that of an emphasis.
    r"([`~*_|]) \1+",
)
_PHRASES = (
    # A text that a link may be about to follow.
    rf"\[ [^\[\]\n]{{1,{LONGEST_PHRASE}}} \]? \Z",
    # Code within a line.
    rf"(?<! ` ) (`{{1,2}}) (?! ` ) [^`\n]{{1,{LONGEST_PHRASE}}} (?: \1 (?! ` ) | \Z )",
    # Bold, underlined, struck through, hidden.
    rf"(\*\*|__|~~|\|\|) (?= \S ) [^\n]{{1,{LONGEST_PHRASE}}}? (?: (?<= \S ) \1 | \Z )",
)


def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.MULTILINE | re.VERBOSE) for pattern in patterns)


#: What means nothing in pieces: mentions, emoji, links, table rows, runs of marks.
WHOLES = _compiled(_WHOLES)
#: What looks torn in pieces: code and emphasised text within a line.
PHRASES = _compiled(_PHRASES)


def spans(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each part of *text* that one of *patterns* matches."""
    for pattern in patterns:
        for found in pattern.finditer(text):
            yield found.span()
