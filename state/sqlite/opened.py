"""The connection to whatever file has the path now."""

from pathlib import Path

from state.errors import StateInvalid
from state.sqlite import file


class Opened:
    """
    A connection to one file, made anew when another file has taken its place.

    Whoever restores a backup under a running bot, or deletes the file, would else leave it speaking
    from a file that nobody else sees, and every other process from the new one.
    """

    def __init__(self, path: str, synchronous: str, partitions: int) -> None:
        """Open *path*; see `file.connect`."""
        self._path, self._synchronous = path, synchronous
        self.connection, self.partitions = file.connect(path, synchronous, partitions)
        self._identity = self._found()

    def follow(self) -> None:
        """Open the file anew if it is another by now; raise as `file.connect` does."""
        if self._found() == self._identity:
            return
        self.connection.close()
        self.connection, partitions = file.connect(self._path, self._synchronous, self.partitions)
        if partitions != self.partitions:
            raise StateInvalid(
                f"{self._path} was replaced by a file of {partitions} partitions, not "
                f"{self.partitions}: start the bot anew"
            )
        self._identity = self._found()

    def _found(self) -> tuple[int, int] | None:
        """Tell which file has the path; None for none, and for a database in memory."""
        try:
            found = Path(self._path).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
