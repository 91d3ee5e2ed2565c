"""Arguments that functions of the standard have in common: operands, axes, dtypes, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import array_api_strict as strict
import numpy as np
from hypothesis import strategies as st

from .arrays import ALL, Array, Shape, Strategy, broadcastable, filled, scalars, shapes
from .calls import Several

flags = st.booleans()


def dtypes(*groups: Sequence[str]) -> Strategy:
    """Draws NumPy dtypes."""
    return st.sampled_from([name for group in groups for name in group]).map(np.dtype)


@cache
def promotable(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Returns the pairs of dtypes that the standard promotes to a dtype among ``names``."""
    pairs = []
    for left in names:
        for right in names:
            try:
                result = strict.result_type(getattr(strict, left), getattr(strict, right))
            except TypeError:
                continue
            if str(result).rpartition(".")[2] in names:
                pairs.append((left, right))
    return tuple(pairs)


@st.composite
def operands(
    draw: st.DrawFn, names: tuple[str, ...], kind: str = "any", second: str | None = None, *, numbers: bool = True
) -> Several:
    """Draws two operands: arrays whose shapes broadcast and whose dtypes promote, of which one may be a number.

    Args:
      draw: Hypothesis's own.
      names: their dtypes.
      kind: that of the elements.
      second: that of the second one's.
      numbers: whether one may be a Python number.
    """
    left, right = draw(st.sampled_from(promotable(names)))
    first_shape, second_shape = draw(broadcastable(2))
    number = draw(st.sampled_from((None, None, 0, 1))) if numbers else None
    x = scalars(right, kind) if number == 0 else filled(first_shape, left, kind)
    y = scalars(left, second or kind) if number == 1 else filled(second_shape, right, second or kind)
    return Several((draw(x), draw(y)))


# Axes


def axis(x: Any, *_: Any) -> Strategy:
    """Draws an axis of an array."""
    return st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.nothing()


def axes(x: Any, *_: Any) -> Strategy:
    """Draws the axes of a reduction: an axis, a tuple of axes, or None."""
    if not x.ndim:
        return st.sampled_from([None, ()])
    several = st.lists(st.integers(0, x.ndim - 1), unique=True).map(tuple)
    return st.one_of(st.none(), axis(x), several, several.map(lambda dims: tuple([i - x.ndim for i in dims])))


def one_axis_or_none(x: Any, *_: Any) -> Strategy:
    """Draws an axis, or None for the flattened array."""
    return st.one_of(st.none(), axis(x)) if x.ndim else st.none()


def permutations(x: Any, *_: Any) -> Strategy:
    """Draws all axes in some order, some counted from the end."""
    return signed(st.permutations(range(x.ndim)), x.ndim)


def signed(dims: Strategy, ndim: int) -> Strategy:
    """Draws axes as they are, or all counted from the end."""
    return st.tuples(dims, flags).map(lambda pair: tuple([i - ndim if pair[1] else i for i in pair[0]]))


# Shapes


def of_size(size: int) -> Strategy:
    """Draws shapes with a given number of elements, some with one length left out."""
    if not size:
        return shapes(1).filter(lambda shape: 0 in shape)
    divisors = [n for n in range(1, size + 1) if size % n == 0]

    def shape(parts: tuple[int, bool, int]) -> Shape:
        first, leave_out, dim = parts
        whole = [first, size // first]
        if leave_out:
            whole[dim] = -1
        return tuple(whole)

    pairs = st.tuples(st.sampled_from(divisors), flags, st.integers(0, 1)).map(shape)
    return st.one_of(pairs, st.just((size,)), st.just((-1,)), st.just((1, size, 1)))


def wider(shape: Shape) -> Strategy:
    """Draws shapes to which a shape broadcasts."""
    return st.tuples(shapes(0, 3 - len(shape)) if len(shape) < 3 else st.just(()), shapes(3, 3)).map(
        lambda pair: (*pair[0], *[pair[1][i] if size == 1 else size for i, size in enumerate(shape)])
    )


# Lists of arrays


@st.composite
def sequences(draw: st.DrawFn, shape: Strategy) -> list[Array]:
    """Draws lists of arrays of one shape that promote."""
    return draw(promoted_arrays([draw(shape)] * draw(st.integers(1, 3))))  # type: ignore[no-any-return]


@st.composite
def promoted_arrays(draw: st.DrawFn, several: Sequence[Shape]) -> list[Array]:
    """Draws arrays of some shapes that promote."""
    both = draw(st.sampled_from(promotable(ALL)))
    return [draw(filled(shape, draw(st.sampled_from(both)))) for shape in several]
