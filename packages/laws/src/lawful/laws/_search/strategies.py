"""Hypothesis strategies: abstract values, arrays, pytrees, programs, calls of primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from lawful.core import Interval, Primitive, ShapedArray
from lawful.laws._law.law import Inapplicable
from lawful.laws._law.values import array_in
from lawful.laws._primitives.call import PrimitiveCall, draw_call
from lawful.laws._programs.choose import HypothesisChoose, wide_dtypes
from lawful.laws._programs.program import Program
from lawful.laws._programs.pytree import draw_tree
from lawful.laws._search.generation import Generation, draw_program


def avals(dtypes: Sequence[np.dtype[Any]] = wide_dtypes) -> st.SearchStrategy[ShapedArray]:
    """Returns a strategy of abstract values: of 0 to 3 dimensions with lengths 0 to 4.

    Args:
      dtypes: those that may be drawn.

    >>> from hypothesis import given
    >>> @given(avals())
    ... def test(aval):
    ...     assert aval.ndim <= 3
    >>> test()
    """

    @st.composite
    def drawn(draw: st.DrawFn) -> ShapedArray:
        choose = HypothesisChoose(draw, dtypes)
        return ShapedArray(choose.shape(), choose.one_of(dtypes))

    return drawn()


def arrays(aval: ShapedArray, interval: Interval | None = None) -> st.SearchStrategy[Any]:
    """Returns a strategy of values of a type, of two decimals; of a weak type Python numbers.

    Args:
      aval: the type.
      interval: where the values lie; by default between -2 and 2.

    >>> from hypothesis import given
    >>> @given(arrays(ShapedArray((2, 3), np.dtype(np.float64))))
    ... def test(x):
    ...     assert x.shape == (2, 3) and abs(x).max() <= 2.0
    >>> test()
    """
    return st.integers(0, 2**16).map(lambda seed: array_in(np.random.default_rng(seed), aval, interval or Interval()))


def pytrees(leaves: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[Any]:
    """Returns a strategy of pytrees: tuples, lists, dicts, namedtuples, None, with at least one leaf.

    Args:
      leaves: a strategy of the leaves; by default arrays of ``avals()``.

    >>> from hypothesis import given
    >>> from lawful import tree
    >>> @given(pytrees())
    ... def test(x):
    ...     assert tree.leaves(x)
    >>> test()
    """
    chosen = avals().flatmap(arrays) if leaves is None else leaves

    @st.composite
    def drawn(draw: st.DrawFn) -> Any:
        choose = HypothesisChoose(draw)
        return draw_tree(choose, lambda: draw(chosen)) if choose.integer(0, 3) else draw(chosen)

    return drawn()


def programs(settings: Generation | None = None, **changes: Any) -> st.SearchStrategy[Program]:
    """Returns a strategy of programs, each with an example of its inputs. They shrink to few, simple equations.

    Args:
      settings: what programs are drawn.
      changes: attributes of :class:`Generation`, instead of ``settings``: ``programs(smooth=False)``.

    >>> from hypothesis import given
    >>> from lawful.laws import holds, law_jvp_linear
    >>> from lawful.laws.systems import lawful
    >>> @given(programs(max_equations=3))
    ... def test(program):
    ...     holds(law_jvp_linear, lawful, program)
    >>> test()
    """
    chosen = settings or Generation(**changes)

    @st.composite
    def drawn(draw: st.DrawFn) -> Program:
        return draw_program(HypothesisChoose(draw, chosen.dtypes), chosen)

    return drawn()


def primitive_calls(
    primitive: Primitive, dtypes: Sequence[np.dtype[Any]] = wide_dtypes, *, smooth: bool = False
) -> st.SearchStrategy[PrimitiveCall]:
    """Returns a strategy of calls of a primitive, as its declaration draws them.

    Args:
      primitive: it has a declaration.
      dtypes: those of arguments.
      smooth: whether to keep away from kinks and jumps.

    >>> from hypothesis import given
    >>> from lawful import ops
    >>> @given(primitive_calls(ops.sin_p))
    ... def test(call):
    ...     assert np.shape(call(*call.args)) == np.shape(call.args[0])
    >>> test()
    """

    @st.composite
    def drawn(draw: st.DrawFn) -> PrimitiveCall:
        try:
            return draw_call(primitive, HypothesisChoose(draw, dtypes), smooth=smooth)
        except Inapplicable:
            reject()

    return drawn()
