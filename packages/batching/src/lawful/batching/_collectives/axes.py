"""Names of axes: their sizes, several of them as one axis, and groups of positions along them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from lawful.batching._axis import AxisData, names_axis
from lawful.core import ArgumentTypeError, ArgumentValueError, current, get_aval, record, vary

AxisName = Hashable
"""A name, or a tuple of names that stands for one axis: the first one is the slowest."""

Groups = tuple[tuple[int, ...], ...]


class UnboundAxisError(ArgumentValueError, NameError):
    """An axis name was used outside of any ``vmap`` that binds it.

    >>> axis_size("rows")
    Traceback (most recent call last):
    lawful.batching._collectives.axes.UnboundAxisError: ...: expected an axis of an enclosing vmap, ... got 'rows'; ...
    """


def axis_size(axis_name: AxisName) -> int:
    """Returns the size of a named axis of an enclosing ``vmap``, or the product of the sizes of several.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x / axis_size("i"), axis_name="i")(np.array([2.0, 4.0]))
    array([1., 2.])

    Source: ``jax.lax.axis_size``.
    """
    return math.prod(map(_size, names_of(axis_name)))


def _size(name: AxisName) -> int:
    for known, size in reversed(current.trace.axis_env):
        if known == name:
            return size
    bound = ", ".join(repr(known) for known, _ in current.trace.axis_env) or "none"
    raise UnboundAxisError(
        f"axis name: expected an axis of an enclosing vmap, pmap or shard_map ({bound}), got {name!r}; correct it, or "
        f"map over such an axis, as vmap does with axis_name={name!r}"
    )


def names_of(axis_name: Any) -> tuple[AxisName, ...]:
    """Returns one name or several as a tuple."""
    return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def bound_axis(function: str, axis_name: Any, *, may_be_none: bool = False) -> tuple[AxisName, int]:
    """Returns the parameter ``axis_name`` of a collective, and the size of the axis.

    Args:
      function: its name, for errors.
      axis_name: a name, or a sequence of names.
      may_be_none: whether the sequence may be empty.

    Raises:
      UnboundAxisError: a name is not bound.
      ArgumentValueError: a name is repeated, or there is none.
    """
    names = names_of(axis_name)
    size = axis_size(names)
    if not names and not may_be_none:
        raise ArgumentValueError(f"{function}: expected the name of an axis, got none")
    if len(set(names)) < len(names):
        raise ArgumentValueError(f"{function}: expected different axis names, got {names}; give each once")
    return as_param(names), size


def varying(x: Any, axis_name: AxisName) -> Any:
    """Returns an operand of a collective: inside `shard_map` with checked types it varies over the axes.

    Raises:
      ArgumentValueError: not all devices along an axis run what is traced.
    """
    trace = current.trace
    if not trace.checked_axes:
        return x
    names = {*names_of(axis_name)}
    absent = ", ".join(sorted(map(repr, trace.divergent_axes & names)))
    if absent:
        raise ArgumentValueError(
            f"collective over {axis_name!r}: expected all devices along {absent} to take part, got one in a branch or "
            f"loop that a device runs or not depending on its position along {absent}; move it out, and choose by where"
        )
    return vary(x, trace.checked_axes & names - get_aval(x).vma)


def as_param(names: tuple[AxisName, ...]) -> AxisName:
    """Returns names as the parameter ``axis_name``: a single one as it is."""
    return names[0] if len(names) == 1 else names


@record
class MappedAxis:
    """The mapped axis, as the batching rule of a collective sees it.

    Attributes:
      size: its size.
      rest: the collective's other axes, as its parameter ``axis_name``; the empty tuple if there are none.
      before: the size of those of the others that are slower.
      after: the size of those that are faster.
    """

    size: int
    rest: AxisName = ()
    before: int = 1
    after: int = 1


def mapped_axis(axis_data: AxisData, axis_name: AxisName) -> MappedAxis | None:
    """Returns the axis that is mapped if a collective is over it, else None."""
    if axis_data.name is None or not names_axis(axis_name, axis_data.name):
        return None
    if type(axis_name) is not tuple:
        return MappedAxis(axis_data.size)
    at = axis_name.index(axis_data.name)
    before, after = axis_name[:at], axis_name[at + 1 :]
    return MappedAxis(axis_data.size, as_param(before + after), axis_size(before), axis_size(after))


def checked_groups(function: str, groups: Any, size: int, *, uneven: bool = False) -> Groups | None:
    """Returns the parameter ``axis_index_groups`` of a collective.

    Args:
      function: its name, for errors.
      groups: None, or sequences of positions.
      size: the size of the axis.
      uneven: whether their lengths may differ.

    Raises:
      ArgumentValueError: a position is not in exactly one group, or the lengths differ.
    """
    if groups is None:
        return None
    try:
        table = tuple(tuple(int(position) for position in group) for group in groups)
    except (TypeError, ValueError):
        table = ()
    is_complete = sorted(position for group in table for position in group) == list(range(size))
    if is_complete and (uneven or len(set(map(len, table))) == 1):
        return table
    raise ArgumentValueError(
        f"{function}: expected axis_index_groups{'' if uneven else ' of one length'} that have each of {size} "
        f"positions once, got {groups}"
    )


def bound_groups(function: str, axis_name: Any, groups: Any) -> tuple[AxisName, Groups | None, int]:
    """Returns the parameters ``axis_name`` and ``axis_index_groups`` of a collective, and its number of participants.

    Args:
      function: its name, for errors.
      axis_name: a bound axis, or a sequence of them, the slowest first.
      groups: None, or sequences of positions, all of one length.

    Raises:
      UnboundAxisError: a name is not bound.
      ArgumentValueError: a name is repeated, or there is none; a position is not in exactly one group, or the lengths
        differ.
    """
    name, size = bound_axis(function, axis_name)
    checked = checked_groups(function, groups, size)
    return name, checked, participants(size, checked)


def groups_param(groups: Groups | None) -> dict[str, Groups]:
    """Returns the parameters of a collective that say its groups."""
    return {} if groups is None else {"axis_index_groups": groups}


def participants(size: int, groups: Groups | None) -> int:
    """Returns how many positions of an axis exchange with one another."""
    return size if groups is None else len(groups[0])


def checked_pairs(function: str, perm: Any, size: int) -> tuple[tuple[int, int], ...]:
    """Returns the parameter ``perm`` of a permutation.

    Args:
      function: its name, for errors.
      perm: pairs of a source and a destination.
      size: the size of the axis.

    Raises:
      ArgumentTypeError: these are no pairs of integers.
      ArgumentValueError: a position is sent twice, sent to twice, or does not exist.
    """
    try:
        pairs = tuple((int(source), int(destination)) for source, destination in perm)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"{function}: expected perm of pairs of a source and a destination, got {perm}; write [(0, 1), (1, 0)]"
        ) from error
    for ends in zip(*pairs, strict=True):
        if len(set(ends)) < len(ends) or not all(0 <= end < size for end in ends):
            raise ArgumentValueError(
                f"{function}: expected pairs in which each of {size} positions occurs once at most, got {list(pairs)}; "
                "let each send to one other"
            )
    return pairs


def divided(function: str, axis_name: AxisName, size: int, shape: Sequence[int], dim: int, *, tiled: bool) -> None:
    """Checks that a dimension of an operand can be split into one part for each position.

    Raises:
      ArgumentValueError: it cannot.
    """
    if shape[dim] % size or (not tiled and shape[dim] != size):
        wanted = f"a multiple of {size}" if tiled else f"length {size}"
        raise ArgumentValueError(
            f"{function}: expected dimension {dim} of the operand to have {wanted}, the size of the axis "
            f"{axis_name!r}{'' if tiled else ' (or give tiled=True)'}, got {shape[dim]} in the shape {tuple(shape)}; "
            "pad it, or choose another dimension"
        )
