"""``PartitionSpec``: which axes of a mesh each dimension of an array is split over."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from lawful.core import ArgumentValueError, InvalidArgumentError

AxisName = Hashable


class _Unconstrained:
    """Stands for a dimension whose split is left to the compiler."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED: Final = _Unconstrained()


class PartitionSpec:
    """For each dimension of an array, the axes of a mesh that it is split over; dimensions at the end may be left out.

    Args:
      partitions: for each dimension the name of an axis, a tuple of names (major first), None where it is not split,
        or ``PartitionSpec.UNCONSTRAINED``, in a constraint, where the compiler may choose.
      unreduced: none; JAX's axes over which an array is the sum of what devices have.
      reduced: none; JAX's axes over which the cotangent of an array is such a sum.

    Raises:
      InvalidArgumentError: an entry is none of these.
      ArgumentValueError: an axis occurs twice, or ``unreduced`` or ``reduced`` has one.

    >>> P = PartitionSpec
    >>> P("x", None, ("y", "z"))
    PartitionSpec('x', None, ('y', 'z'))
    >>> P(("x",), ()) == P("x", None)
    True

    Source: ``jax.sharding.PartitionSpec``.
    """

    __slots__ = ("_entries",)

    UNCONSTRAINED: Final = UNCONSTRAINED

    def __init__(self, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset()) -> None:
        for argument, axes in (("unreduced", unreduced), ("reduced", reduced)):
            if axes:
                raise ArgumentValueError(
                    f"PartitionSpec: expected no {argument} axes, got {axes}; types have no sums: apply psum in "
                    "shard_map, or leave them to the compiler"
                )
        entries = tuple(map(_entry, partitions))
        names = [name for entry in entries for name in axes_of_entry(entry)]
        for name in names:
            if names.count(name) > 1:
                raise ArgumentValueError(
                    f"PartitionSpec: expected each axis once, got {name!r} more than once in {entries}; an axis can "
                    "split one dimension only"
                )
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec | tuple | list):
            return PartitionSpec(*self, *other)
        return NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*other, *self) if isinstance(other, tuple | list) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return self._entries == tuple(map(_entry, other))
        return isinstance(other, PartitionSpec) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash(self._entries)

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self._entries))})"

    def __reduce__(self) -> tuple[object, ...]:
        return PartitionSpec, self._entries

    def index(self, value: Any) -> int:
        """Returns the first dimension with this entry, as ``tuple.index`` does."""
        return self._entries.index(_entry(value))

    def count(self, value: Any) -> int:
        """Returns how many dimensions have this entry."""
        return self._entries.count(_entry(value))

    def axes(self) -> tuple[AxisName, ...]:
        """Returns all axes that occur, in the order of dimensions."""
        return tuple([name for entry in self._entries for name in axes_of_entry(entry)])


def _entry(entry: Any) -> Any:
    """Returns an entry in its one form: None, a name, a tuple of at least two names, or UNCONSTRAINED."""
    if entry is None or entry is UNCONSTRAINED:
        return entry
    if isinstance(entry, tuple | list):
        if any(isinstance(name, tuple | list) or name is None for name in entry):
            raise _wrong_entry(entry)
        return None if not entry else entry[0] if len(entry) == 1 else tuple(entry)
    if not isinstance(entry, Hashable) or isinstance(entry, PartitionSpec):
        raise _wrong_entry(entry)
    return entry


def _wrong_entry(entry: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"PartitionSpec: expected for each dimension an axis, a tuple of axes, or None, got {entry!r}; write "
        "PartitionSpec('x', None) for two dimensions, the first one split over 'x'"
    )


def axes_of_entry(entry: Any) -> tuple[AxisName, ...]:
    """Returns the axes of an entry, major first; none where it is None or UNCONSTRAINED."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def spec_of(dims: Sequence[tuple[AxisName, ...]]) -> PartitionSpec:
    """Returns the spec with these axes for each dimension; dimensions at the end that are not split are left out."""
    dims = list(dims)
    while dims and not dims[-1]:
        dims.pop()
    return PartitionSpec(*dims)
