"""Key paths: the location of a leaf or subtree in a pytree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.tree.base.record import record

# A path is a tuple of these, or of the keys returned by a registered type's flatten_with_keys function.
type KeyEntry = Any
type KeyPath = tuple[KeyEntry, ...]


@record
class SequenceKey:
    """The position of a child in a tuple or a list.

    >>> str(SequenceKey(2))
    '[2]'
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@record
class DictKey:
    """The position of a child in a dict, an OrderedDict or a defaultdict.

    >>> str(DictKey("a"))
    "['a']"
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@record
class GetAttrKey:
    """The position of a child in a dataclass, a namedtuple, or another type with named fields.

    >>> str(GetAttrKey("weight"))
    '.weight'
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@record
class FlattenedIndexKey:
    """The position of a child in a node whose type was registered without keys.

    >>> str(FlattenedIndexKey(0))
    '[<flat index 0>]'
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"


def keystr(keys: Sequence[KeyEntry], *, simple: bool = False, separator: str = "") -> str:
    """Returns a key path as text.

    Args:
      keys: a key path, as :func:`flatten_with_path` gives them.
      simple: write the bare name, index or key of each entry. Shorter, but the list index ``0`` and the
        dict keys ``0`` and ``"0"`` then look alike.
      separator: what to put between the entries.

    Example:
      >>> path = (DictKey("layers"), SequenceKey(0), GetAttrKey("weight"))
      >>> keystr(path)
      "['layers'][0].weight"
      >>> keystr(path, simple=True, separator="/")
      'layers/0/weight'

    Source: ``jax.tree_util.keystr``.
    """
    return separator.join([_bare(key) if simple else str(key) for key in keys])


def _bare(key: KeyEntry) -> str:
    match key:
        case SequenceKey(entry) | DictKey(entry) | GetAttrKey(entry) | FlattenedIndexKey(entry):
            return str(entry)
        case _:
            return str(key)
