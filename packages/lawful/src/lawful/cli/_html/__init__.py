"""Pages: what the HTML pages of the command have in common. Each is one file that needs no other and no network."""

from __future__ import annotations

from importlib.resources import files


def part(package: str, name: str) -> str:
    """Returns a file of a package that is a part of a page."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def theme(name: str) -> str:
    """Returns the common style, ``"theme.css"``, or the script of the button ``#theme``, ``"theme.js"``."""
    return part(__name__, name)
