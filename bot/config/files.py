"""Look at the files and folders that settings name: the token's, and those with cogs."""

import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

#: Packages of this application. A folder of the same name on the path would hide one of them.
_OURS = ("bot", "cogs", "state", "sandbox")
_HOME = Path(__file__).resolve().parents[2]


#: What tells one state of a file from another: its number, time of change in ns, and size.
Stamp = tuple[int, int, int]


def stamps(files: Iterable[Path]) -> Mapping[Path, Stamp | None]:
    """Tell the state that each file is in; None: it is not there, or cannot be looked at."""
    return {path: _stamp(path) for path in files}


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_token(path: Path) -> tuple[str | None, str]:
    """Answer the token in *path*, or None and what is wrong with the file."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        return None, f"{path} cannot be read: {reason}; name a file that holds the token alone"
    if stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO):
        shown = f"{stat.S_IMODE(mode):04o}"
        return None, f"{path} is open to other users (mode {shown}); run: chmod 600 {path}"
    if not text or any(character.isspace() for character in text):
        return None, f"{path} holds no token; it must hold one line, the token alone"
    return text, ""


def path_problems(paths: tuple[str, ...]) -> Iterator[str]:
    """Find folders that are missing, or that would hide a package of this application."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield f'"{path}" is no folder; name the folder that holds your modules'
            continue
        for name in _OURS:
            theirs = (path / name).resolve()
            if theirs.is_dir() and theirs != _HOME / name:
                yield f"{theirs} and {_HOME / name} are both called {name}; rename yours"
