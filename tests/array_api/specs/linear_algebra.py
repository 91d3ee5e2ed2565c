"""Products of matrices, the extension of linear algebra, and that of Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arguments import axes, axis, flags, promotable
from .arrays import ALL, COMPLEX, FLOATING, FLOATS, NUMERIC, Array, Shape, Strategy, arrays, filled, shapes, smaller
from .calls import Call, Several, call, with_keyword
from .closeness import Closeness
from .spec import Spec

_SUM = Closeness(terms=32, zeros=False)
# For well-conditioned matrices.
_SOLVED = Closeness(terms=256, zeros=False)

_length = st.sampled_from([2, 1, 3, 0])


# Products


@st.composite
def _pair(draw: st.DrawFn, left: Shape, right: Shape) -> Several:
    first, second = draw(st.sampled_from(promotable(NUMERIC)))
    return Several((draw(filled(left, first, "small")), draw(filled(right, second, "small"))))


@st.composite
def _factors(draw: st.DrawFn) -> Several:
    m, k, n = (draw(_length) for _ in range(3))
    stack = draw(shapes(0, 1))
    left = draw(st.sampled_from([(k,), (m, k), (*draw(smaller(stack)), m, k)]))
    right = draw(st.sampled_from([(k,), (k, n), (*draw(smaller(stack)), k, n)]))
    return draw(_pair(left, right))  # type: ignore[no-any-return]


@st.composite
def _contracted(draw: st.DrawFn) -> Several:
    kept, summed, other = draw(shapes(0, 1)), draw(shapes(0, 2)), draw(shapes(0, 1))
    x, y = draw(_pair((*kept, *summed), (*summed, *other)))
    if draw(flags):
        return Several((x, y, len(summed)))
    dims = range(len(summed))
    return Several((x, y, (tuple(i + len(kept) for i in dims), tuple(dims))))


@st.composite
def _vectors(draw: st.DrawFn, length: Strategy) -> Several:
    """Draws two arrays of vectors along a common dimension, counted from the end."""
    whole = draw(shapes(1, 3))
    dim = draw(st.integers(1, len(whole)))
    size = draw(length)
    both = []
    for _ in range(2):
        shape = list(draw(smaller(whole)))
        shape = [1] * (dim - len(shape)) + shape
        shape[-dim] = size
        both.append(tuple(shape))
    return Several((*draw(_pair(*both)), -dim))


# Matrices


@st.composite
def matrices(draw: st.DrawFn, *, square: bool = False, names: tuple[str, ...] = FLOATING) -> Array:
    """Draws stacks of diagonally dominant matrices, which are well conditioned."""
    rows = draw(_length)
    shape = (*draw(shapes(0, 1)), rows, rows if square else draw(_length))
    x = draw(filled(shape, draw(st.sampled_from(names)), "unit"))
    return x + 4 * np.eye(*shape[-2:], dtype=x.dtype)


_square = matrices(square=True)
_rectangular = matrices()


@st.composite
def _hermitian(draw: st.DrawFn, *, distinct: bool = False) -> Array:
    x = draw(_square)
    both = (x + np.conj(x.swapaxes(-1, -2))) / 2
    if distinct:
        both = both + np.diag(np.arange(both.shape[-1]) * 6).astype(x.dtype)
    return np.asarray(both.astype(x.dtype))


@st.composite
def _equations(draw: st.DrawFn) -> Several:
    a = draw(_square)
    size = a.shape[-1]
    stack = a.shape[:-2] if draw(flags) else ()
    shape = draw(st.sampled_from([(size,), (*stack, size, draw(_length))]))
    # Real matrices with complex right-hand sides are promoted, and the other way round.
    partners = [right for left, right in promotable(FLOATING) if left == a.dtype.name]
    return Several((a, draw(filled(shape, draw(st.sampled_from(partners)), "unit"))))


def _phases(result: Any) -> Any:
    """Returns the product of a decomposition, and its unique parts; the vectors are unique only up to phases."""
    fields = getattr(result, "_fields", ())
    if fields == ("Q", "R"):
        q, r = (np.asarray(x) for x in result)
        return [q @ r, np.abs(r), *_types(q, r)]
    if fields == ("U", "S", "Vh"):
        u, s, vh = (np.asarray(x) for x in result)
        rank = s.shape[-1]
        return [(u[..., :rank] * s[..., None, :].astype(u.dtype)) @ vh[..., :rank, :], s, *_types(u, vh)]
    w, v = (np.asarray(x) for x in result)
    return [(v * w[..., None, :].astype(v.dtype)) @ np.conj(v.swapaxes(-1, -2)), w, *_types(v)]


def _types(*parts: Array) -> list[Any]:
    return [fact for x in parts for fact in (x.shape, str(x.dtype), np.abs(np.conj(x.swapaxes(-1, -2)) @ x))]


def _main() -> Iterator[Spec]:
    for module in ("", "linalg."):
        yield Spec(f"{module}matmul", call(_factors()), _SUM)
        yield Spec(f"{module}matrix_transpose", call(arrays(ALL, shapes(2))))
        yield Spec(f"{module}tensordot", with_keyword("axes", _contracted()), _SUM)
        yield Spec(f"{module}vecdot", with_keyword("axis", _vectors(_length)), _SUM)
    yield Spec("operator.matmul", call(_factors()), _SUM)


def _extension() -> Iterator[Spec]:
    rtol = {"rtol": st.sampled_from([0.1, 1e-3])}
    yield Spec("linalg.cholesky", call(_hermitian(), upper=flags), _SOLVED)
    yield Spec("linalg.cross", with_keyword("axis", _vectors(st.just(3))), _SUM)
    yield Spec("linalg.det", call(_square), _SOLVED)
    yield Spec("linalg.diagonal", call(arrays(ALL, shapes(2)), offset=st.integers(-4, 4)))
    yield Spec("linalg.eigh", call(_hermitian(distinct=True)), _SOLVED, seen=_phases)
    yield Spec("linalg.eigvalsh", call(_hermitian()), _SOLVED)
    yield Spec("linalg.inv", call(_square), _SOLVED)
    yield Spec("linalg.matrix_norm", call(_rectangular, ord=_matrix_norms, keepdims=flags), _SOLVED)
    yield Spec("linalg.matrix_power", call(_square, st.integers(-2, 3)), _SOLVED)
    yield Spec("linalg.matrix_rank", call(_rectangular.filter(lambda x: 0 not in x.shape[-2:]), **rtol))
    yield Spec("linalg.outer", call(st.tuples(shapes(1, 1), shapes(1, 1)).flatmap(lambda pair: _pair(*pair))), _SUM)
    yield Spec("linalg.pinv", call(_rectangular, **rtol), _SOLVED)
    yield Spec("linalg.qr", call(_rectangular, mode=st.sampled_from(["reduced", "complete"])), _SOLVED, seen=_phases)
    yield Spec("linalg.slogdet", call(_square), _SOLVED)
    yield Spec("linalg.solve", call(_equations()), _SOLVED)
    yield Spec("linalg.svd", call(_rectangular, full_matrices=flags), _SOLVED, seen=_phases)
    yield Spec("linalg.svdvals", call(_rectangular), _SOLVED)
    yield Spec("linalg.trace", call(arrays(NUMERIC, shapes(2), "small"), offset=st.integers(-4, 4)), _SUM)
    norms = st.sampled_from([1, 2, np.inf, -np.inf, 0, -1, -2, 3, 0.5])
    positive = arrays(FLOATING, st.lists(st.integers(1, 3), max_size=3).map(tuple), "positive")
    yield Spec("linalg.vector_norm", call(positive, axis=axes, ord=norms, keepdims=flags), _SOLVED)


def _matrix_norms(x: Any, *_: Any) -> Strategy:
    # There is no minimum of zero elements.
    return st.sampled_from([1, 2, np.inf, "fro", "nuc", *([-1, -2, -np.inf] if x.size else [])])


# Fourier transforms

_norms = {"norm": st.sampled_from(["backward", "ortho", "forward"])}
_signals = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)


def _sizes(x: Any, *_: Any) -> Strategy:
    return st.integers(1, 5)


@st.composite
def _several(draw: st.DrawFn, names: tuple[str, ...], *, sized: bool) -> Call:
    """Draws signals, and the dimensions to transform with the lengths of the result, which ``sized`` asks for."""
    x = draw(arrays(names, _signals, "small"))
    count = draw(st.integers(1, x.ndim))
    named: dict[str, Any] = {}
    if sized or draw(flags):
        named["axes"] = tuple(draw(st.permutations(range(x.ndim)))[:count])
        if sized or draw(flags):
            named["s"] = tuple(draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)))
    if draw(flags):
        named["norm"] = draw(_norms["norm"])
    return Call((x,), named)


def _transforms() -> Iterator[Spec]:
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        names = FLOATS if name in ("rfft", "ihfft") else COMPLEX
        least = 2 if name in ("irfft", "hfft") else 1
        along = st.lists(st.integers(least, 3), min_size=1, max_size=3).map(tuple)
        yield Spec(f"fft.{name}", call(arrays(names, along, "small"), n=_sizes, axis=axis, **_norms), _SUM)
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        # For a single element, the inverse real transform has no default length.
        calls = _several(FLOATS if name == "rfftn" else COMPLEX, sized=name == "irfftn")
        yield Spec(f"fft.{name}", calls, _SUM)
    for name in ("fftfreq", "rfftfreq"):
        options = {"d": st.sampled_from([0.5, 2.0, 3]), "dtype": st.sampled_from(FLOATS).map(np.dtype)}
        yield Spec(f"fft.{name}", call(st.integers(1, 6), **options), Closeness(digits=4))
    for name in ("fftshift", "ifftshift"):
        yield Spec(f"fft.{name}", call(arrays(FLOATING, shapes(1)), axes=axes))


LINEAR_ALGEBRA = [*_main(), *_extension(), *_transforms()]
