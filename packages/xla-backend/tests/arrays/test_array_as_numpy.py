"""An Array answers Python and NumPy as an ndarray of the same values would, and cannot be changed."""

import copy
import operator
import pickle

import ml_dtypes
import numpy as np
import pytest

from lawful.core import ArgumentTypeError, NonArrayError, ShapedArray, get_aval, supported_dtypes, to_numpy
from lawful.xla_backend import Array, DeletedArrayError, device_put, devices


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
def test_array_attributes(dtype: np.dtype) -> None:
    x = np.ones((2, 3), dtype)
    a = device_put(x)
    for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes"):
        assert getattr(a, name) == getattr(x, name)
    assert not a.weak_type
    assert a.aval == get_aval(a) == ShapedArray((2, 3), dtype)
    assert a.device == devices()[0]
    assert a.devices() == {devices()[0]}
    assert len(a) == 2


def outcome(f, x):
    try:
        return f(x)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("f", [bool, int, float, complex, operator.index, len, str, list, lambda x: format(x, ".2f")])
@pytest.mark.parametrize(
    "x",
    [np.array(2), np.array(2.5), np.array(True), np.array(1 + 2j), np.array([3]), np.array([]), np.array([1.0, 2.0])],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_array_conversions_are_numpys(f, x: np.ndarray) -> None:
    assert outcome(f, device_put(x)) == outcome(f, x)


def test_array_item_tolist_iteration() -> None:
    x = np.arange(6.0).reshape(2, 3)
    a = device_put(x)
    assert a.item(1, 2) == 5.0
    assert type(device_put(np.float32(1)).item()) is float
    assert a.tolist() == x.tolist()
    assert a.tobytes() == x.tobytes()
    assert [row.tolist() for row in a] == x.tolist()


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
@pytest.mark.parametrize("shape", [(3,), (3, 2), (0,)])
def test_array_iteration_is_indexing(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """Also of one dimension: scalars of NumPy's extended dtypes have no types that promote."""
    a = device_put(np.ones(shape, dtype))
    elements = list(a)
    for i, element in enumerate(elements):
        assert type(element) is type(a[i])
        assert (element.shape, element.dtype) == (shape[1:], dtype)
        assert not element.flags.writeable
    assert len(elements) == len(a)


NUMBERS = [2.5, 3.5, -0.5, 1e300, -1e19, 2.0**63, -(2.0**63), np.uint64(2**64 - 1), np.int64(-(2**63)), np.int8(-7)]


@pytest.mark.parametrize("x", [*map(np.asarray, NUMBERS), np.array(2.5, ml_dtypes.bfloat16)], ids=repr)
def test_array_round_is_a_python_integer(x: np.ndarray) -> None:
    found = round(device_put(x))
    assert type(found) is int
    assert found == round(x.item())


def test_array_round_of_no_integer() -> None:
    with pytest.raises(ValueError, match="NaN"):
        round(device_put(np.nan))
    with pytest.raises(OverflowError, match="infinity"):
        round(device_put(np.inf))
    with pytest.raises(ArgumentTypeError, match="expected a real number"):
        round(device_put(2 + 1j))


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.array([1.0, 2.0]), "Array([1., 2.], dtype=float64)"),
        (np.array([True]), "Array([ True], dtype=bool)"),
        (3.0, "Array(3., dtype=float64, weak_type=True)"),
        (1, "Array(1, dtype=int64, weak_type=True)"),
        (np.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float64)"),
        (np.zeros(0, np.int8), "Array([], dtype=int8)"),
        (np.ones(2, ml_dtypes.bfloat16), "Array([1, 1], dtype=bfloat16)"),
        (np.eye(2), "Array([[1., 0.],\n       [0., 1.]], dtype=float64)"),
    ],
)
def test_array_repr(x, text: str) -> None:
    assert repr(device_put(x)) == text


def test_array_repr_keeps_to_the_line_width() -> None:
    text = repr(device_put(np.arange(200.0) / 7))
    assert max(map(len, text.splitlines())) <= np.get_printoptions()["linewidth"]
    assert text.endswith("dtype=float64)")


def test_asarray_is_a_read_only_view() -> None:
    a = device_put(np.arange(3.0))
    x = np.asarray(a)
    assert np.shares_memory(x, np.asarray(a))
    assert not x.flags.writeable
    assert np.shares_memory(x, np.array(a, copy=False))


def test_array_copies_where_numpy_would() -> None:
    a = device_put(np.arange(3.0))
    copied = np.array(a)
    assert copied.flags.writeable
    assert not np.shares_memory(copied, np.asarray(a))
    converted = np.asarray(a, dtype=np.float32)
    assert converted.dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.array(a, dtype=np.float32, copy=False)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(a),
        lambda a: np.mean(a, axis=0),
        lambda a: np.reshape(a, (3, 2)),
        lambda a: np.concatenate([a, np.ones((1, 3)), a]),
        lambda a: np.stack([a, a]),
        lambda a: np.sin(a),
        lambda a: np.add(np.ones((2, 3)), a),
        lambda a: np.einsum("ij,kj", a, a),
        lambda a: np.where(a > 2.0, a, 0.0),
        lambda a: a + 1,
        lambda a: 1 - a,
        lambda a: np.full((2, 3), 2.0) * a,
        lambda a: a @ a.T,
        lambda a: -a[1:, ::2],
        lambda a: a.sum(axis=1),
        lambda a: a.astype(np.float32).T,
        lambda a: a == a,
        lambda a: (a.real, a.imag),
        lambda a: a[1, 2] in a,
    ],
)
def test_array_numpy_code_runs_on_it(f) -> None:
    x = np.arange(6.0).reshape(2, 3)
    expected, actual = np.asarray(f(x)), np.asarray(f(device_put(x)))
    assert actual.dtype == expected.dtype
    assert np.array_equal(actual, expected)


def test_ops_outside_jit_see_a_weak_array_as_a_python_scalar() -> None:
    assert type(to_numpy(device_put(3.0))) is float
    assert type(to_numpy(device_put(np.float64(3.0)))) is np.ndarray


def test_array_text_is_repeated_and_no_other_operand() -> None:
    n = device_put(np.int64(3))
    assert "-" * n == n * "-" == "---"
    assert n != "---"
    assert n != None  # noqa: E711
    for op in (operator.add, operator.sub, operator.lt):
        with pytest.raises(NonArrayError, match="operand: expected an array or number, got '-'"):
            op(n, "-")
    with pytest.raises(NonArrayError, match="operand: expected an array or number, got None"):
        n * None


def test_array_cannot_be_changed() -> None:
    a = device_put(np.arange(3.0))
    with pytest.raises(TypeError, match=r"immutable.*\.at\["):
        a[0] = 1.0
    for name in ("aval", "shape", "dtype", "device", "weak_type"):
        with pytest.raises(AttributeError):
            setattr(a, name, None)
    with pytest.raises(AttributeError):
        a.note = "no new attributes"


def test_array_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(device_put(np.arange(3.0)))


@pytest.mark.parametrize(
    "x", [np.arange(3.0), np.zeros((0, 2), np.int8), 1.5, np.ones(2, ml_dtypes.bfloat16)], ids=repr
)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)), Array.copy])
def test_array_copies_and_pickles(x, duplicate) -> None:
    a = device_put(x)
    b = duplicate(a)
    assert type(b) is Array
    assert b.aval == a.aval
    assert b.tobytes() == a.tobytes()
    a.delete()
    assert b.tobytes() == np.asarray(x).tobytes()


def test_a_deleted_array_says_so() -> None:
    a = device_put(np.arange(3.0))
    view = np.asarray(a)
    a.delete()
    a.delete()
    assert a.is_deleted()
    assert "deleted with delete()" in repr(a)
    assert a.shape == (3,)
    for use in (np.asarray, float, list, Array.block_until_ready, Array.copy, pickle.dumps, np.from_dlpack):
        with pytest.raises(DeletedArrayError, match=r"got the f64\[3\] deleted with delete\(\)"):
            use(a)
    assert view.tolist() == [0.0, 1.0, 2.0]


def test_array_waiting() -> None:
    a = device_put(np.arange(3.0))
    assert a.block_until_ready() is a
    assert a.is_ready()
    assert not a.is_deleted()
