"""Objects that are used by indexing: `mgrid`, `ogrid`, `r_`, `c_`, `s_` and `index_exp`."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_array
from lawful.numpy._creation.arrays import asarray
from lawful.numpy._creation.ranges import arange, linspace
from lawful.numpy._dtypes import result_type
from lawful.numpy._indexing.index_grids import along
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.joining import concatenate, stack

__all__ = ["c_", "index_exp", "mgrid", "ogrid", "r_", "s_"]


def _numbers(name: str, s: slice) -> Any:
    """Returns the numbers of a slice: those of `arange`, or of `linspace` for an imaginary step."""
    if s.start is s.stop is None and not isinstance(s.step, complex):
        return arange(0)
    if s.stop is None:
        raise ArgumentTypeError(f"{name}: expected a slice with an end, got {s}; write start:stop")
    start, step = (0 if s.start is None else s.start), (1 if s.step is None else s.step)
    if isinstance(step, complex):
        return linspace(start, s.stop, int(abs(step)))
    return arange(start, s.stop, step)


class Grid:
    """The class of `mgrid` and `ogrid`: an index of slices gives the coordinates of a grid.

    A slice ``start:stop:step`` stands for the numbers of `arange`, and ``start:stop:5j`` for five numbers from one to
    the other, both included.
    """

    def __init__(self, name: str, sparse: bool) -> None:
        self._name = name
        self._sparse = sparse

    def __repr__(self) -> str:
        return f"lawful.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _numbers(self._name, key)
        slices = key if isinstance(key, tuple) else (key,)
        if not all([isinstance(s, slice) and s.stop is not None for s in slices]):
            raise ArgumentTypeError(
                f"{self._name}: expected slices with an end, got {key!r:.60}; write {self._name}[0:3, 0:4]"
            )
        axes = [_numbers(self._name, s) for s in slices]
        dtype = result_type(*axes)
        shape = [get_aval(x).shape[0] for x in axes]
        axes = [along(ops.convert_element_type(x, dtype), i, len(shape)) for i, x in enumerate(axes)]
        return tuple(axes) if self._sparse else stack([broadcast_to(x, shape) for x in axes])


class Joined:
    """The class of `r_` and `c_`: an index of arrays, numbers and slices gives them joined.

    Arrays may be traced. A slice stands for numbers as in `mgrid`. A first text ``"axis,ndim,trans1d"`` has the
    dimension along which they are joined, the minimal number of dimensions, and the position of the original ones
    among them; all but the first may be left out. The text ``"r"`` asks for a matrix, a row if they join to a vector,
    and ``"c"`` for one that is then a column.
    """

    def __init__(self, name: str, axis: int, ndim: int, trans1d: int) -> None:
        self._name = name
        self._settings = (axis, ndim, trans1d)

    def __repr__(self) -> str:
        return f"lawful.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndim, trans1d = self._settings
        matrix = ""
        if items and isinstance(items[0], str):
            text = items.pop(0)
            if text in ("r", "c"):
                matrix = text
            else:
                axis, ndim, trans1d = self._parsed(text)
        if not items:
            raise ArgumentValueError(f"{self._name}: expected something to join, got nothing; give arrays or slices")
        parts = [self._values(item) for item in items]
        dtype = result_type(*parts)
        shaped = [_with_ndim(ops.convert_element_type(x, dtype), ndim, trans1d) for x in parts]
        joined = concatenate(shaped, axis)
        return self._matrix(joined, matrix) if matrix else joined

    def _matrix(self, x: Any, kind: str) -> Any:
        ndim = get_aval(x).ndim
        if ndim > 2:
            raise ArgumentValueError(
                f"{self._name}: expected arrays that join to at most two dimensions with {kind!r}, got {ndim}; leave "
                "the text out"
            )
        return x if ndim == 2 else ops.expand_dims(x, (0,) if kind == "r" else (1,))

    def _parsed(self, text: str) -> tuple[int, int, int]:
        given = text.split(",")
        try:
            numbers = [int(part) for part in given]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ArgumentValueError(
                f"{self._name}: expected 'axis', 'axis,ndim', 'axis,ndim,trans1d', 'r' or 'c' as text, got {text!r}; "
                "leave it out"
            )
        axis, ndim, trans1d = (*numbers, *self._settings[len(numbers) :])
        return axis, ndim, trans1d

    def _values(self, item: Any) -> Any:
        if isinstance(item, str):
            raise ArgumentValueError(f"{self._name}: expected a text as the first item only, got {item!r}; move it")
        if isinstance(item, slice):
            return _numbers(self._name, item)
        return item if is_array(item) else asarray(item)


def _with_ndim(x: Any, ndim: int, trans1d: int) -> Any:
    """Returns an array with at least ``ndim`` dimensions; its own ones start at ``trans1d``, counted as by `r_`."""
    have = get_aval(x).ndim
    if not have:
        return ops.reshape(x, (1,) * max(ndim, 1))
    if have >= ndim:
        return x
    first = min(trans1d, ndim - have) if trans1d >= 0 else trans1d + ndim - have + 1
    return ops.expand_dims(x, tuple(i for i in range(ndim) if not first <= i < first + have))


class Index:
    """The class of `s_` and `index_exp`: an index returns itself."""

    def __init__(self, name: str, as_tuple: bool) -> None:
        self._name = name
        self._as_tuple = as_tuple

    def __repr__(self) -> str:
        return f"lawful.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._as_tuple and not isinstance(key, tuple) else key


mgrid, ogrid = Grid("mgrid", sparse=False), Grid("ogrid", sparse=True)
r_, c_ = Joined("r_", 0, 1, -1), Joined("c_", -1, 2, 0)
s_, index_exp = Index("s_", as_tuple=False), Index("index_exp", as_tuple=True)
