"""What holds for the repository as a whole."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Written in halves, so that this file itself is clean.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "registry.npm" + "js.org",
    "registry.yarn" + "pkg.com",
    "deb.de" + "bian.org",
    "snapshot.de" + "bian.org",
    "deb.node" + "source.com",
]
MACHINE_PATHS = [
    "/ro" + "ot/",
    "/wo" + "rk/",
    "/t" + "mp/build",
    "/home/" + "runner",
    "/Us" + "ers/",
]

# Lines. A file that needs more says more than one thing.
LONGEST_FILE = 320


def committed_files() -> list[Path]:
    """List the files that are in the repository."""
    # A checkout in a container may belong to another user, which git refuses unless told.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def texts() -> dict[str, str]:
    """Map each committed text file to what it says; pictures and fonts have no text."""
    found = {}
    for path in committed_files():
        raw = path.read_bytes()
        if b"\0" not in raw:
            found[str(path.relative_to(ROOT))] = raw.decode()
    return found


@pytest.mark.parametrize("forbidden", [REGISTRY_HOSTS, MACHINE_PATHS], ids=["registry", "machine"])
def test_no_file_names_a_registry_or_a_machine(forbidden: list[str]) -> None:
    """No committed file says where packages come from or where somebody's folders are."""
    named = {
        name: found
        for name, text in texts().items()
        if (found := [phrase for phrase in forbidden if phrase in text])
    }
    assert named == {}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_are_pinned_by_hash(name: str) -> None:
    """Each line is a requirement of one exact version with at least one hash."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(lines) > 20
    pin = re.compile(r"[a-z0-9._-]+==\S+ (; [^#]+? )?( *--hash=sha256:[0-9a-f]{64} *)+")
    assert [line for line in lines if not pin.fullmatch(line)] == []


def test_development_adds_to_the_runtime_pins_and_changes_none() -> None:
    """What the tests run with is what `make run` installs, version by version."""

    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([a-z0-9._-]+==\S+)", (ROOT / name).read_text(), re.MULTILINE))

    assert pins("requirements.txt") < pins("requirements-dev.txt")


def test_make_has_every_target_that_the_documents_name() -> None:
    """A reader who types what a document says gets no "no rule to make target"."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        (name, target)
        for name, text in texts().items()
        if name.endswith(".md")
        for target in re.findall(r"^(?:\$ )?make ([a-z]+)|`make ([a-z]+)", text, re.MULTILINE)
        for target in target
        if target
    }
    assert named
    assert {(name, target) for name, target in named if target not in targets} == set()


def test_no_source_file_is_too_long() -> None:
    """A source file can be read in one sitting."""
    sources = [
        path
        for path in committed_files()
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] in {"bot", "cogs", "state", "sandbox"}
    ]
    assert sources
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}
