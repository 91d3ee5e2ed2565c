"""The folder of sources that Sphinx reads, written so that a file with the same content keeps its time."""

from pathlib import Path, PurePath


class Folder:
    """A folder in which only what changed is written, and from which all else is deleted at the end.

    Sphinx reads a page again if its time is new.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: set[Path] = set()

    def write(self, name: PurePath | str, content: bytes) -> Path:
        """Writes a file unless it is there with this content. Two files of one name are an error."""
        path = self.path / name
        if path in self._written:
            raise FileExistsError(f"{name} is written twice: rename one of the pages")
        self._written.add(path)
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return path

    def sweep(self) -> None:
        """Deletes the files that earlier builds wrote and this one did not."""
        for path in self.path.rglob("*"):
            if path.is_file() and path not in self._written:
                path.unlink()
