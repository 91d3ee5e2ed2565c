"""Errors are of NumPy's class, equal eagerly and traced, and suggest a correction."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful import ops, random
from lawful.autodiff import grad
from lawful.core import ArgumentTypeError, ArgumentValueError, LawfulError
from lawful.staging import jit, make_jaxpr

from .calls import OPERATORS, SINCE, is_newer, mistakes
from .calls.mistakes import nested

MATRIX, VECTOR = numpy.ones((3, 4)), numpy.ones(3)

CLASSES = (numpy.exceptions.AxisError, numpy.linalg.LinAlgError, TypeError, IndexError, OverflowError, ValueError)
CLASSES += (RuntimeError,)
FILE = str(Path(__file__).parent / "calls" / "mistakes.py")


def compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda np, x: jit(lambda x: call(np, x), backend="numpy")(x)


@pytest.mark.parametrize("name", mistakes | OPERATORS)
def test_error_class_is_numpy_s(name: str):
    if is_newer(since := SINCE.get(name, "2.1.0")):
        pytest.skip(f"NumPy raises this error since {since}")
    call, x = (mistakes | OPERATORS)[name]
    with pytest.raises(Exception) as numpys:  # noqa: PT011 its class is compared
        call(numpy, x)
    built_in = next(cls for cls in CLASSES if isinstance(numpys.value, cls))
    for run in (call, compiled(call)) if name in mistakes else (compiled(call),):
        with pytest.raises(built_in) as ours:
            run(lnp, x)
        assert isinstance(ours.value, LawfulError)
        assert re.search("expected", str(ours.value))
        assert str(ours.value).startswith(FILE)


ONLY_OURS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a list": (lambda x: lnp.sum([1, 2]), TypeError, "asarray"),
    "a list to a ufunc": (lambda x: lnp.add(x, [1, 2, 3]), TypeError, "asarray"),
    "out": (lambda x: lnp.sum(x, out=numpy.zeros(())), TypeError, "use the result"),
    "out by position": (lambda x: lnp.sum(x, 0, None, numpy.zeros(())), TypeError, "use the result"),
    "order": (lambda x: lnp.reshape(x, (3, 1), order="B"), ValueError, "order='C'"),
    "a condition only": (lambda x: lnp.where(x), TypeError, "depends on values"),
    "where without initial": (lambda x: lnp.max(x, where=x > 0), ValueError, "initial"),
    "strings": (lambda x: lnp.array(["a"]), TypeError, "dtype: expected one of"),
    "objects": (lambda x: lnp.array([object()]), TypeError, "dtype: expected one of"),
    "no parts": (lambda x: lnp.split(x, 0), ValueError, "number of parts"),
    "step of zero": (lambda x: lnp.arange(0, 1, 0), ValueError, "step"),
    "no arrays": (lambda x: lnp.result_type(), ValueError, "at least one"),
    "unknown dtype": (lambda x: lnp.zeros(3, "float31"), TypeError, "float31"),
    "unsupported dtype": (lambda x: lnp.zeros(3, "float128"), TypeError, "float128"),
}


@pytest.mark.parametrize("name", ONLY_OURS)
def test_error_messages(name: str):
    call, cls, text = ONLY_OURS[name]
    for run in (call, jit(call, backend="numpy")):
        with pytest.raises(cls, match=text):
            run(VECTOR)


def test_error_of_a_traced_shape_names_static_argnums():
    for call in (lnp.zeros, lnp.arange, lambda n: lnp.reshape(VECTOR, n), lambda n: lnp.tile(VECTOR, n), lnp.eye):
        with pytest.raises(TypeError, match=r"static_argnums|length of the result"):
            jit(call, backend="numpy")(3)


def test_creation_is_staged():
    text = str(make_jaxpr(lambda: lnp.zeros((1000,)) + lnp.arange(1000))())
    assert "broadcast_in_dim" in text
    assert "iota" in text


def test_eager_results_are_new_numpy_arrays():
    for x in (lnp.zeros(3), lnp.full((2, 2), VECTOR[:2]), lnp.tile(VECTOR, 2), lnp.repeat(VECTOR, 2), lnp.copy(VECTOR)):
        assert type(x) is numpy.ndarray
        assert x.flags.writeable
        assert not numpy.shares_memory(x, VECTOR)


def test_errors_leave_no_state():
    with pytest.raises(ValueError, match="broadcast"):
        grad(lambda x: lnp.sum(lnp.add(x, numpy.zeros(5))))(VECTOR)
    numpy.testing.assert_array_equal(grad(lnp.sum)(VECTOR), numpy.ones(3))


def test_array_of_a_list_with_none():
    for call in (lambda x: lnp.array([x, None]), lambda x: lnp.asarray([[1.0], [None]])):
        for run in (call, jit(call, backend="numpy")):
            with pytest.raises(TypeError, match="None") as ours:
                run(1.0)
            assert isinstance(ours.value, LawfulError)


@pytest.mark.parametrize(
    ("function", "signature", "error", "match"),
    [
        (lambda x: x, "(n)->()", ValueError, "dimensions"),
        (lambda x: x[:2], "(n)->(n)", ValueError, "'n' has length 3"),
        (lambda x: (x, x), "(n)->(n)", TypeError, "1 results"),
        (lambda x: (x, x[:2]), "(n)->(m),(m)", ValueError, "'m' has length 3"),
    ],
)
def test_vectorize_checks_results(function: Any, signature: str, error: type[Exception], match: str):
    for shape in ((3,), (2, 3)):
        mapped = lnp.vectorize(function, signature=signature)
        for run in (mapped, jit(mapped, backend="numpy")):
            with pytest.raises(error, match=match) as ours:
                run(numpy.ones(shape))
            assert isinstance(ours.value, LawfulError)
    assert lnp.vectorize(lambda x: (x, x.sum()), signature="(n)->(n),()")(numpy.ones((2, 3)))[1].shape == (2,)


def test_vectorize_passes_none_without_signature():
    function = lnp.vectorize(lambda x, y: x if y is None else x + y)
    x = numpy.arange(3)
    assert function(x, None).tolist() == [0, 1, 2]
    assert function(x, x).tolist() == [0, 2, 4]
    with pytest.raises(ArgumentValueError, match="got None as argument 1"):
        lnp.vectorize(lambda x, y: x, signature="(k),(k)->(k)")(x, None)


@pytest.mark.parametrize(("excluded", "error"), [({1.5}, ArgumentTypeError), ({-1}, ArgumentValueError)])
def test_vectorize_checks_excluded(excluded: Any, error: type[Exception]):
    with pytest.raises(error, match="as excluded"):
        lnp.vectorize(lambda x: x, excluded=excluded)


def test_array_of_integers_beyond_int64():
    for make in (
        lambda: lnp.array(2**63, dtype="uint64"),
        lambda: lnp.asarray(2**63, "uint64"),
        lambda: lnp.full((), 2**63, "uint64"),
        lambda: lnp.full_like(numpy.zeros((), "uint64"), 2**63),
        lambda: lnp.array([2**63], dtype="uint64")[0],
        lambda: jit(lambda: lnp.full((), 2**63, "uint64"), backend="numpy")(),
    ):
        assert make().dtype == numpy.uint64
        assert int(make()) == 2**63
    assert lnp.array(2**70, float) == 2.0**70
    for call in (lambda: lnp.array(2**64, "uint64"), lambda: lnp.array(2**64), lambda: lnp.array(2**63, "int64")):
        with pytest.raises(OverflowError, match="expected a value that fits") as ours:
            call()
        assert isinstance(ours.value, LawfulError)


def test_mgrid_of_an_open_slice():
    numpy.testing.assert_array_equal(lnp.mgrid[:], numpy.mgrid[:])
    numpy.testing.assert_array_equal(lnp.ogrid[:], numpy.ogrid[:])
    with pytest.raises(TypeError, match="slices with an end"):
        lnp.mgrid[:, :3]


def test_iscomplexobj_of_lists():
    for x in ([1, 2j], [[1.0], [2j]], [1.0, 2], (1j,), [], [numpy.ones(2, complex)]):
        assert lnp.iscomplexobj(x) == numpy.iscomplexobj(x)
        assert lnp.isrealobj(x) == numpy.isrealobj(x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
# NumPy before 2.5 warns where it compares NaN in a dtype of another library.
@numpy.errstate(invalid="ignore" if is_newer("2.5.0") else "warn")
def test_sets_of_dtypes_that_numpy_cannot_sort(dtype: str):
    """The elements, and their order, are those in float32."""
    x, y = [numpy.nan, 1, numpy.nan, 2, 1, -1], [2, numpy.nan, 8, -1]
    narrow, wide = ([numpy.array(z, d) for z in (x, y)] for d in (lnp.dtype(dtype), "float32"))
    for name in ("unique", "unique_values", "unique_counts", "unique_all", "unique_inverse"):
        found, expected = (getattr(np, name)(z[0]) for np, z in ((lnp, narrow), (numpy, wide)))
        for one, other in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
            numpy.testing.assert_array_equal(numpy.asarray(one).astype(float), other)
        assert (found if name in ("unique", "unique_values") else found[0]).dtype == narrow[0].dtype
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        found, expected = (getattr(np, name)(*z) for np, z in ((lnp, narrow), (numpy, wide)))
        numpy.testing.assert_array_equal(found.astype(float), expected)
    flags = (True, True, True)
    for one, other in zip(lnp.unique(narrow[0], *flags), numpy.unique(wide[0], *flags), strict=True):
        numpy.testing.assert_array_equal(one.astype(float), other)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lnp.zeros(2**62),
        lambda: lnp.ones((2**31, 2**31, 4), "int8"),
        lambda: lnp.full(2**64, 1.0),
        lambda: lnp.arange(2**62),
        lambda: lnp.broadcast_to(numpy.ones(1), (2**62,)),
        lambda: lnp.sum(lnp.broadcast_to(1.0, (2**62, 2))),
        lambda: ops.iota("int8", 2**62),
        lambda: lnp.eye(2**31),
        lambda: lnp.tri(2**40, k=1),
        lambda: lnp.linspace(0, 1, 2**62),
        lambda: lnp.linspace(VECTOR, VECTOR, 2**61),
        lambda: lnp.logspace(1, 2, 2**62),
        lambda: lnp.geomspace(1, 2, 2**62),
        lambda: lnp.repeat(VECTOR, 2**62),
        lambda: lnp.repeat(VECTOR, numpy.full(3, 2**62)),
        lambda: lnp.pad(VECTOR, 2**60),
        lambda: lnp.resize(VECTOR, 2**62),
        lambda: lnp.tile(VECTOR, 2**62),
        *(lambda name=name: getattr(lnp, name)(2**62) for name in ("hanning", "hamming", "blackman", "bartlett")),
        lambda: lnp.kaiser(2**62, 1.0),
        lambda: random.uniform(random.key(0), (2**62,)),
        lambda: random.normal(random.key(0), (2**62, 4)),
        lambda: random.permutation(random.key(0), 2**62),
    ],
)
@pytest.mark.parametrize("backend", [None, "numpy"])
def test_error_of_a_shape_with_too_many_bytes(call: Callable[[], Any], backend: str | None):
    run = call if backend is None else jit(call, backend=backend)
    with pytest.raises(ValueError, match=r"expected an array of less than 2\*\*63 bytes") as ours:
        run()
    assert isinstance(ours.value, LawfulError)


NESTED = nested(1.0, 5000)


@pytest.mark.parametrize(
    "call",
    [
        *(lambda x, name=name: getattr(lnp, name)(NESTED) for name in ("sum", "sin", "stack", "concatenate", "block")),
        lambda x: lnp.array([x, NESTED]),
        lambda x: lnp.append(x, NESTED),
        lambda x: lnp.full(2, NESTED),
        lambda x: lnp.block([[x, NESTED]]),
        jit(lambda x: x + NESTED, backend="numpy"),
        jit(lambda x: numpy.add(x, NESTED), backend="numpy"),
    ],
)
def test_error_of_deeply_nested_lists(call: Callable[[Any], Any]):
    for run in (call, jit(call, backend="numpy")):
        with pytest.raises((TypeError, ValueError), match="expected"):
            run(VECTOR)


LISTS = {
    "sum": (lambda x: lnp.sum(x, where=[1, 0, 1]), "sum: expected an array of booleans as where, got the list"),
    "mean": (lambda x: lnp.mean(x, where=[1, 0, 1]), "mean: expected an array of booleans as where, got the list"),
    "max": (
        lambda x: lnp.max(x, initial=0, where=(1, 0, 1)),
        "max: expected an array of booleans as where, got the tuple",
    ),
    "initial": (
        lambda x: lnp.prod(x, initial=[1, 2]),
        "prod: expected a scalar as initial, got \\[1, 2\\] of type list",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_reduction_given_lists_names_every_mistake(name: str):
    call, message = LISTS[name]
    with pytest.raises(TypeError, match=message):
        call(VECTOR)
