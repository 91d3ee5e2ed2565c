"""NumPy's ufuncs and functions of tracers call the ops that declare them, without other packages."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ShapedArray, Trace, Tracer, current, get_aval, new_trace, register_array_type
from lawful.ops import Elementwise
from lawful.ops._numpy_protocol import dispatch
from lawful.ops._numpy_protocol.dispatch import _functions


class TypesTrace(Trace):
    """Computes types only, and records the names of primitives."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__(current.trace, "types")
        self.names: list[str] = []

    def process_primitive(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.names.append(primitive.name)
        return TypeTracer(self, primitive.rule("abstract_eval")(*map(get_aval, args), **params))


class TypeTracer(Tracer):
    __slots__ = ("aval", "source")

    def __init__(self, trace: TypesTrace, aval: ShapedArray) -> None:
        self._trace = trace
        self.aval = aval
        self.source = None


register_array_type(TypeTracer, aval=lambda x: x.aval)


@pytest.fixture
def trace() -> Iterator[TypesTrace]:
    trace = TypesTrace()
    with new_trace(trace):
        yield trace


DECLARED = [
    op
    for op in (getattr(ops, name) for name in ops.__all__)
    if isinstance(op, Elementwise) and isinstance(op.numpy_function, np.ufunc)
]


@pytest.mark.parametrize("op", DECLARED, ids=lambda op: op.__name__)
def test_array_ufunc_calls_the_declared_op(op: Elementwise, trace: TypesTrace):
    assert op.primitive.declaration is not None
    dtype = "float64" if "f" in op.primitive.declaration.kinds else "int64"
    x = TypeTracer(trace, ShapedArray((2,), dtype))
    out = op.numpy_function(*[x] * op.arity)
    assert isinstance(out, Tracer)
    assert trace.names[-1] == op.primitive.name or op is ops.true_divide


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x, axis=0),
    "mean": lambda x: np.mean(x, axis=-1, keepdims=True),
    "max": lambda x: np.max(x),
    "argmin": lambda x: np.argmin(x, axis=1),
    "any": lambda x: np.any(x, axis=(0, 1)),
    "matmul": lambda x: np.matmul(x, np.ones((3, 4))),
    "dot": lambda x: np.dot(np.ones((4, 2)), x),
    "where": lambda x: np.where(x > 0, x, 0),
    "real": lambda x: np.real(x),
    "divmod": lambda x: np.divmod(np.ones(3), x)[1],
    "reduce": lambda x: np.add.reduce(x),
    "accumulate": lambda x: np.maximum.accumulate(x, axis=1),
    "outer": lambda x: np.multiply.outer(x, np.ones(4)),
    "operator": lambda x: np.ones((2, 1), "float32") - x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_array_function_equals_numpy(name: str, trace: TypesTrace):
    call = FUNCTIONS[name]
    want = call(np.ones((2, 3)))
    got = call(TypeTracer(trace, ShapedArray((2, 3), "float64")))
    assert isinstance(got, Tracer)
    assert got.aval == get_aval(want)


def test_array_function_of_shape_and_ndim(trace: TypesTrace):
    x = TypeTracer(trace, ShapedArray((2, 3), "float64"))
    assert (np.shape(x), np.ndim(x)) == ((2, 3), 2)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "argmax", "argmin"])
def test_methods_take_the_axis_false_as_functions_do(name: str, trace: TypesTrace):
    x = TypeTracer(trace, ShapedArray((2, 3), "float64"))
    got, want = getattr(x, name)(axis=False), getattr(np, name)(x, axis=False)
    assert get_aval(got) == get_aval(want)
    assert np.shape(got) == (3,)


def test_register_numpy_functions_adds_a_function(trace: TypesTrace):
    x = TypeTracer(trace, ShapedArray((2, 3), "float64"))
    with pytest.raises(TypeError, match=r"numpy\.array_repr: expected a function that lawful has"):
        np.array_repr(x)
    ops.register_numpy_functions({np.array_repr: lambda a: (ops.sin(a), a)})
    try:
        assert np.array_repr(x)[1] is x
    finally:
        del _functions[np.array_repr]


def test_array_function_without_lawful_numpy(trace: TypesTrace, monkeypatch: pytest.MonkeyPatch):
    x = TypeTracer(trace, ShapedArray((2, 3), "float64"))
    monkeypatch.delitem(dispatch._left_out, np.array_repr, raising=False)
    for is_installed, advice in ((True, ".* write it with functions of lawful.numpy"), (False, "install lawful-numpy")):
        monkeypatch.setattr(dispatch, "_load_entry_points", lambda is_installed=is_installed: is_installed)
        with pytest.raises(TypeError, match=rf"numpy\.array_repr: .* in one that it has not: {advice}"):
            np.array_repr(x)


def test_numpy_protocol_errors_give_advice(trace: TypesTrace):
    x = TypeTracer(trace, ShapedArray((2,), "float64"))
    array = np.ones(2)
    with pytest.raises(TypeError, match=r"numpy\.add: .*write x = x \+ y"):
        array += x
    with pytest.raises(TypeError, match=r"numpy\.sin: .*where="):
        np.sin(x, where=array > 0)
    with pytest.raises(TypeError, match=r"numpy\.add\.at: .*inplace=False"):
        np.add.at(array, 0, x)
    with pytest.raises(TypeError, match="expected an array or number, got 'a'"):
        np.add(x, "a")
