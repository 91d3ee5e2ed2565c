"""NumPy code that cannot run on tracers: each way out of it is an error that names the function and what to write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.special

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.core import LawfulError, NonArrayError, TracerArrayConversionError, get_aval
from lawful.numpy._left_out import left_out
from lawful.staging import jit, make_jaxpr
from lawful.xla_backend import Array, device_put

X = np.array([1.0, 2.0, 4.0])
MASK = X > 1
PLACES = np.array([2, 0])

RUNS: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "jit by numpy": lambda f: jit(f, backend="numpy")(X),
    "jit by xla": lambda f: jit(f, backend="xla")(X),
    "vmap": lambda f: vmap(f)(np.stack([X, X])),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "vjp": lambda f: vjp(f, X),
    "make_jaxpr": lambda f: make_jaxpr(f)(X),
    "jit of grad": lambda f: jit(grad(lambda x: lnp.sum(x) + 0 * lnp.sum(f(x))))(X),
    "vmap of jit": lambda f: vmap(jit(f))(np.stack([X, X])),
}
every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)


def assign_all(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    return a


def assign_row(x: Any) -> Any:
    a = np.zeros((2, 3))
    a[1] = x
    return a


def assign_where(x: Any) -> Any:
    a = np.zeros(3)
    a[MASK] = x[1:]
    return a


def add_to_row(x: Any) -> Any:
    a = np.zeros((2, 3))
    a[0] += x
    return a


def add_in_place(x: Any) -> Any:
    a = np.ones(3)
    a += x
    return a


def set_of_tracer(x: Any) -> Any:
    x[0] = 1.0
    return x


# The name in the error, and the alternative.
MISTAKES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "a[:] = x": (assign_all, "assignment", "a = lawful.ops.at(a)[i].set(x)"),
    "a[i] = x": (assign_row, "assignment", "a = lawful.ops.at(a)[i].set(x)"),
    "a[mask] = x": (assign_where, "assignment", "a = lawful.ops.at(a)[i].set(x)"),
    "a[i] += x": (add_to_row, "numpy.add", "x = x + y"),
    "a += x": (add_in_place, "numpy.add", "x = x + y"),
    "x[i] = a": (set_of_tracer, "assignment", "x = x.at[...].set(value)"),
    "asarray": (lambda x: np.asarray(x), "numpy.asarray", "lawful.numpy of the same name"),
    "array": (lambda x: np.array(x), "numpy.array", "lawful.numpy of the same name"),
    "array of a list": (lambda x: np.array([x, x]), "numpy.array", "lawful.numpy of the same name"),
    "array of numbers": (lambda x: np.array([x[0], 1.0]), "numpy.array", "lawful.numpy of the same"),
    "float64": (lambda x: np.float64(x[0]), "numpy.float64", "write x.astype(numpy.float64), or take getval(x)"),
    "int64": (lambda x: 2 * np.int64(x[0]), "numpy.int64", "write x.astype(numpy.int64), or take getval(x)"),
    "bool": (lambda x: np.bool_(x), "numpy.bool", "write x.astype(numpy.bool), or take getval(x)"),
    "arange": (lambda x: np.arange(0, x[0]), "numpy.arange", "the length of the result depends on it"),
    "lnp.arange": (lambda x: lnp.arange(x[0]), "arange", "on which the length of the result depends"),
    "full": (lambda x: np.full((2, 3), x), "numpy.full", "lawful.numpy of the same name"),
    "vectorize": (lambda x: np.vectorize(lambda y: y + 1)(x), "numpy.vectorize", "lawful.numpy of the same name"),
    "kaiser": (lambda x: np.kaiser(3, x[0]), "numpy.kaiser", "lawful.numpy of the same name"),
    "out of a ufunc": (lambda x: np.add(x, 1.0, out=np.zeros(3)), "numpy.add", "use the result"),
    "out of a function": (lambda x: np.cumsum(x, out=np.zeros(3)), "numpy.cumsum", "use the result"),
    "out of a method": (lambda x: np.add.reduce(x, out=np.zeros(())), "numpy.add.reduce", "use the result"),
    "out by position": (lambda x: np.sin(x, np.zeros(3)), "numpy.sin", "use the result"),
    "where": (lambda x: np.add(x, 1.0, where=MASK), "numpy.add", "choose with lawful.numpy.where"),
    "dtype": (lambda x: np.add(x, 1.0, dtype="float32"), "numpy.add", "convert with astype"),
    "at": (lambda x: np.add.at(x, 0, 1.0), "numpy.add.at", "lawful.numpy.add.at(x, indices, values, inplace=False)"),
    "at with it": (lambda x: np.add.at(np.zeros(3), 0, x[0]), "numpy.add.at", "inplace=False"),
    "put": (lambda x: np.put(x, PLACES, 1.0), "put", "lawful.numpy.put(x, ..., inplace=False)"),
    "put of it": (lambda x: np.put(np.zeros(3), PLACES, x), "put", "lawful.numpy.put(x, ..., inplace=False)"),
    "place": (lambda x: np.place(x, MASK, [1.0]), "place", "lawful.numpy.place(x, ..., inplace=False)"),
    "put_along_axis": (lambda x: np.put_along_axis(x, PLACES, 1.0, 0), "put_along_axis", "inplace=False"),
    "fill_diagonal": (lambda x: np.fill_diagonal(np.outer(x, x), 1.0), "fill_diagonal", "inplace=False"),
    "fill_diagonal with it": (lambda x: np.fill_diagonal(np.eye(3), x), "numpy.fill_diagonal", "of the same name"),
    "copyto": (lambda x: np.copyto(np.zeros(3), x), "numpy.copyto", "x = lawful.numpy.where(mask, values, x)"),
    "putmask": (lambda x: np.putmask(x, MASK, 0.0), "numpy.putmask", "x = lawful.numpy.where(mask, values, x)"),
    "savetxt": (lambda x: np.savetxt("", x), "numpy.savetxt", left_out["savetxt"]),
    "array_repr": (lambda x: np.array_repr(x), "numpy.array_repr", left_out["array_repr"]),
    "real_if_close": (lambda x: np.real_if_close(x), "numpy.real_if_close", left_out["real_if_close"]),
    "shares_memory": (lambda x: np.shares_memory(x, x), "numpy.shares_memory", left_out["shares_memory"]),
    "min_scalar_type": (lambda x: np.min_scalar_type(x), "numpy.min_scalar_type", left_out["min_scalar_type"]),
    "isnat": (lambda x: np.isnat(x), "numpy.isnat", left_out["isnat"]),
    "sqrt of emath": (lambda x: np.emath.sqrt(x), "numpy.lib.scimath.sqrt", "with functions of lawful.numpy"),
}

AN_ARRAY = "got the list of tracers"
# lawful takes no list for an array, which docs/numpy.md says.
LISTS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "sum": (lambda x: lnp.sum([x[0], x[1]]), "sum: ", AN_ARRAY),
    "mean": (lambda x: lnp.mean([x[0], 1.0]), "mean: ", AN_ARRAY),
    "dot": (lambda x: lnp.dot([x[0], 1.0, 2.0], x), "dot: ", AN_ARRAY),
    "reshape": (lambda x: lnp.reshape([x[0], 1.0], (2, 1)), "reshape: ", AN_ARRAY),
    "sin": (lambda x: lnp.sin([x[0], x[1]]), "", AN_ARRAY),
    "norm": (lambda x: lnp.linalg.norm([x[0], x[1]]), "", AN_ARRAY),
    "concatenate": (lambda x: lnp.concatenate([[x[0]], x]), "concatenate: ", AN_ARRAY),
    "NumPy's concatenate": (lambda x: np.concatenate([[x[0]], x]), "concatenate: ", AN_ARRAY),
    "ragged": (lambda x: lnp.sum([x[0], [1.0]]), "sum: ", "make its rows equally long"),
    "NumPy's sum": (lambda x: np.sum([x[0], 1.0]), "numpy.sum: ", "lawful.numpy.array([x, ...]) in place of a list"),
    "NumPy's sin": (lambda x: np.sin([x[0], 1.0]), "numpy.sin: ", "lawful.numpy.array([x, ...]) in place of a list"),
    "arange": (lambda x: lnp.arange(x[0]), "arange: ", "make the argument static (static_argnums of jit)"),
    "arange to": (lambda x: lnp.arange(0, x[0], 1), "arange: ", "make the argument static (static_argnums of jit)"),
}
MISTAKES |= LISTS


@pytest.mark.parametrize("name", [name for name in LISTS if LISTS[name][2] == AN_ARRAY])
def test_unsupported_list_as_an_array(name: str):
    """The way out in the error works."""
    made = {
        "sum": lambda x: lnp.sum(lnp.array([x[0], x[1]])),
        "mean": lambda x: lnp.mean(lnp.array([x[0], 1.0])),
        "dot": lambda x: lnp.dot(lnp.array([x[0], 1.0, 2.0]), x),
        "reshape": lambda x: lnp.reshape(lnp.array([x[0], 1.0]), (2, 1)),
        "sin": lambda x: lnp.sin(lnp.array([x[0], x[1]])),
        "norm": lambda x: lnp.linalg.norm(lnp.array([x[0], x[1]])),
    }.get(name, lambda x: lnp.concatenate([lnp.array([x[0]]), x]))
    function = getattr(np.linalg if name == "norm" else np, name.removeprefix("NumPy's "))
    given = {
        "mean": ([X[0], 1.0],),
        "dot": ([X[0], 1.0, 2.0], X),
        "reshape": ([X[0], 1.0], (2, 1)),
        "concatenate": ([[X[0]], X],),
    }.get(name.removeprefix("NumPy's "), ([X[0], X[1]],))
    np.testing.assert_allclose(jit(made)(X), function(*given), rtol=1e-15)


SCIPY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "ber": (scipy.special.ber, "scipy.special.ber: "),
    "solve_ivp": (
        lambda x: scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [x[0]]).y[0, -1],
        "scipy.integrate.solve_ivp: ",
    ),
    "spline": (scipy.interpolate.CubicSpline(np.arange(4.0), np.arange(4.0)), "scipy.interpolate.PPoly: "),
}


@every_run
@pytest.mark.parametrize(("mistake", "name"), SCIPY.values(), ids=SCIPY)
def test_unsupported_functions_of_scipy(mistake: Callable[[Any], Any], name: str, run: Callable[..., Any]):
    """The line in the error is that of this file, and not one of SciPy."""
    with pytest.raises(LawfulError) as error:
        run(lambda x: mistake(x))
    assert error.value.message.startswith(name), error.value.message
    for words in ("lawful.staging.pure_callback", "lawful.custom_rules.custom_jvp"):
        assert words in error.value.message
    assert str(error.value).startswith(__file__)


def test_unsupported_positions_of_delete():
    with pytest.raises(TracerArrayConversionError, match=r"delete: .*make the argument static \(static_argnums of jit"):
        jit(lnp.delete)(X, PLACES)


@pytest.mark.parametrize("run", [lambda f: f(X), *RUNS.values()], ids=["eagerly", *RUNS])
def test_unsupported_lists_as_docs_numpy_says(run: Callable[..., Any]):
    page = " ".join((Path(__file__).parents[2] / "docs/numpy.md").read_text().split())
    assert "Functions take no list or tuple in place of an array" in page
    assert "`array` and `asarray` make an array of a nested list" in page
    assert "`stack`, `concatenate` and similar functions take a list of arrays, but not of lists" in page
    run(lambda x: lnp.sum(lnp.array([x[0], 2.0]) + lnp.asarray([x[0], 2.0])) * lnp.stack([x, x], 1)[:, 0])
    run(lambda x: lnp.concatenate([x, x])[:3])
    for refuse in (lnp.stack, lnp.concatenate, lambda x: lnp.sum(x[0]), lambda x: lnp.sin(x[0])):
        with pytest.raises(NonArrayError):
            run(lambda x, refuse=refuse: refuse([[x[0], 2.0]]))


@every_run
@pytest.mark.parametrize(("mistake", "name", "way_out"), MISTAKES.values(), ids=MISTAKES)
def test_unsupported_of_tracers(mistake: Callable[[Any], Any], name: str, way_out: str, run: Callable[..., Any]):
    with pytest.raises((TypeError, ValueError)) as error:
        run(mistake)
    assert isinstance(error.value, LawfulError)
    assert error.value.message.startswith(name), error.value.message
    assert way_out in error.value.message
    assert str(error.value).startswith(__file__)


def test_unsupported_call_is_named_by_its_text():
    """A call over lines, one beside letters of several bytes, and one whose text is in no file."""
    named = {
        "numpy.asarray": lambda x: "é" + str(
            np
            .asarray(
                x
            )
        ),
        "numpy.array or numpy.asarray": eval("lambda x: np.array(x)"),  # it has no file
        "numpy.array or numpy.asarray ": lambda x: {"get": np.asarray}["get"](x),
    }  # fmt: skip
    for name, mistake in named.items():
        with pytest.raises(TypeError, match=f"{name.strip()}: expected a NumPy array, got a tracer"):
            vjp(mistake, X)


@every_run
def test_unsupported_element_that_is_assigned(run: Callable[..., Any]):
    """NumPy says that a number is a sequence; what says more is the cause."""

    def mistake(x: Any) -> Any:
        a = np.zeros(3)
        a[0] = x[1]
        return a

    with pytest.raises(ValueError, match="setting an array element") as error:
        run(mistake)
    cause = error.value.__cause__
    assert isinstance(cause, LawfulError)
    assert cause.message.startswith("assignment: expected a NumPy array, got a tracer")
    assert "a = lawful.ops.at(a)[i].set(x)" in cause.message


@pytest.mark.parametrize("name", ["jit by numpy", "jit by xla", "vmap", "make_jaxpr", "vmap of jit"])
def test_unsupported_index_that_is_traced(name: str):
    with pytest.raises(TypeError, match=r"index: expected a NumPy array, got a tracer .* lawful\.numpy\.take\(a, x\)"):
        RUNS[name](lambda x: np.arange(9)[lnp.astype(x, int)])
    np.testing.assert_array_equal(jit(lambda i: lnp.take(np.arange(9), i))(PLACES), PLACES)


def test_unsupported_way_out_of_an_assignment():
    """The alternative in the error works, also for an array that NumPy made."""

    def function(x: Any) -> Any:
        a = np.zeros(4)
        a = ops.at(a)[1].set(x[0])
        return ops.at(a)[np.array([0, 2])].set(lnp.take(X, lnp.astype(x[:2], int)))

    np.testing.assert_array_equal(jit(function)(X), [2.0, 1.0, 4.0, 0.0])
    np.testing.assert_array_equal(grad(lambda x: lnp.sum(function(x)))(X), [1.0, 0.0, 0.0])


def test_unsupported_assignment_makes_another_array():
    """``x += y`` of a tracer is ``x = x + y``: another name of the first one keeps its value, unlike in NumPy."""

    def function(x: Any) -> Any:
        other = x
        x += 1.0
        return other, x

    for run in (jit(function), lambda x: jvp(function, (x,), (x,))[0], lambda x: vmap(function)(x)):
        other, x = run(X)
        np.testing.assert_array_equal(other, X)
        np.testing.assert_array_equal(x, X + 1.0)


# Device arrays have values: NumPy reads them, and writes into its own arrays; they themselves are immutable.


def written(write: Callable[[Any], Any]) -> Any:
    a = np.zeros(3)
    write(a)
    return a


WORKS: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda x: np.asarray(x),
    "array": lambda x: np.array([x, 2.0 * x]),
    "array of numbers": lambda x: np.array([x[0], 1.0]),
    "a[i] = x": lambda x: written(lambda a: a.__setitem__(0, x[1])),
    "a[:] = x": lambda x: written(lambda a: a.__setitem__(slice(None), x)),
    "a += x": lambda x: written(lambda a: a.__iadd__(x)),
    "out": lambda x: np.add(x, 1.0, out=np.zeros(3)),
    "where": lambda x: np.add(x, 1.0, where=MASK, out=np.zeros(3)),
    "copyto": lambda x: written(lambda a: np.copyto(a, x)),
    "put": lambda x: written(lambda a: np.put(a, PLACES, x)),
    "at": lambda x: written(lambda a: np.add.at(a, PLACES, x[:2])),
    "vectorize": lambda x: np.vectorize(lambda y: y + 1)(x),
    "poly1d": lambda x: np.poly1d(x)(2.0),
    "nditer": lambda x: np.array([float(y) for y in np.nditer(x)]),
    "real_if_close": lambda x: np.real_if_close(x),
    "unique": lambda x: np.unique(x),
}


@pytest.mark.parametrize("call", WORKS.values(), ids=WORKS)
def test_unsupported_device_arrays_are_read(call: Callable[[Any], Any]):
    want, got = call(X), call(device_put(X))
    assert get_aval(got) == get_aval(want)
    np.testing.assert_array_equal(got, want)


WRITES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "copyto": (lambda x: np.copyto(x, 1.0), "numpy.copyto"),
    "putmask": (lambda x: np.putmask(x, MASK, 1.0), "numpy.putmask"),
    "put": (lambda x: np.put(x, PLACES, 1.0), "numpy.put"),
    "place": (lambda x: np.place(x, MASK, [1.0]), "numpy.place"),
    "put_along_axis": (lambda x: np.put_along_axis(x, PLACES, 1.0, 0), "numpy.put_along_axis"),
    "fill_diagonal": (lambda x: np.fill_diagonal(device_put(np.eye(3)), 1.0), "numpy.fill_diagonal"),
    "out of a ufunc": (lambda x: np.add(X, 1.0, out=x), "numpy.add"),
    "out of a function": (lambda x: np.cumsum(X, out=x), "numpy.cumsum"),
    "at": (lambda x: np.add.at(x, PLACES, 1.0), "numpy.add.at"),
    "x[i] = a": (set_of_tracer, "assignment"),
}


@pytest.mark.parametrize(("mistake", "name"), WRITES.values(), ids=WRITES)
def test_unsupported_device_arrays_are_not_written_to(mistake: Callable[[Any], Any], name: str):
    x = device_put(X)
    with pytest.raises((TypeError, ValueError)) as error:
        mistake(x)
    assert isinstance(error.value, LawfulError)
    assert error.value.message.startswith(f"{name}: expected")
    assert "y = numpy.array(x)" in error.value.message
    assert str(error.value).startswith(__file__)
    np.testing.assert_array_equal(x, X)


def test_unsupported_device_arrays_have_other_names_too():
    x = other = device_put(X)
    x += 1.0
    assert isinstance(other, Array)
    np.testing.assert_array_equal(other, X)
    np.testing.assert_array_equal(x, X + 1.0)
