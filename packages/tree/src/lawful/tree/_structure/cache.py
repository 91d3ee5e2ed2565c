"""The cache of tree structures by signature."""

from __future__ import annotations

from typing import Any, Final

from lawful.tree.base.cache import DictCache

MAX_TOKENS: Final = 200_000


class StructureCache[T](DictCache[tuple[Any, ...], T]):
    """Structures by signature. Its limit is the number of tokens of all signatures together.

    Attributes:
      room: how many more tokens fit.
    """

    __slots__ = ("room",)

    def __init__(self) -> None:
        super().__init__("tree structures", MAX_TOKENS)
        self.room = MAX_TOKENS

    def clear(self) -> None:
        """Removes every structure."""
        super().clear()
        self.room = MAX_TOKENS
