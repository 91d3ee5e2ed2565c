"""All primitives by name, for the parser of jaxprs and for lists of primitives."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from lawful.tree.base import load_lazy_imports

if TYPE_CHECKING:
    from lawful.core._primitive.primitive import Primitive


class PrimitivesByName(MutableMapping[str, "Primitive"]):
    """Weak references to primitives. A lookup also finds those of lazily imported modules."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: WeakValueDictionary[str, Primitive] = WeakValueDictionary()

    def __getitem__(self, name: str) -> Primitive:
        if name not in self._known:
            load_lazy_imports()
        return self._known[name]

    def __setitem__(self, name: str, primitive: Primitive) -> None:
        self._known[name] = primitive

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        load_lazy_imports()
        return iter(self._known)

    def __len__(self) -> int:
        load_lazy_imports()
        return len(self._known)


#: The most recently made primitive of each name.
primitives_by_name: Final = PrimitivesByName()
