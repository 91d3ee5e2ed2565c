"""lawful.autograd and Autograd: the same names, and functions of SciPy with the same derivatives."""

from importlib import import_module
from typing import Any

import autograd
import numpy
import pytest

import lawful.autograd
from lawful.core import ArgumentTypeError

#: Names of Autograd's modules that have no counterpart.
LEFT_OUT = {
    # Pieces of its rules and of its wrapper of NumPy
    *("array_from_args", "concatenate_args", "metadata", "parse_einsum_input", "wrap_if_boxes_inside"),
    *("wrap_intdtype", "wrap_namespace", "numpy_version", "notrace_functions", "primitive", "notrace_primitive"),
    *("builtins", "c_class", "r_class", "custom_where", "numpy_jvps", "warnings"),
    *("numpy_wrapper", "truncate_pad", "Box"),
}
#: Names that modules of distributions import for their rules.
IMPORTED = {"psi", "digamma", "beta", "gamma"}

MODULES = [
    *("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.stats.norm", "scipy.stats.t", "scipy.stats.gamma"),
    *("scipy.stats.beta", "scipy.stats.chi2", "scipy.stats.poisson", "scipy.stats.dirichlet"),
    *("scipy.stats.multivariate_normal", "scipy.signal", "scipy.integrate", "misc.optimizers", "misc.flatten"),
]


def functions(module: str) -> set[str]:
    """Returns the names of public functions that differentiate, or are NumPy's."""
    found = vars(import_module(f"autograd.{module}"))
    return {name for name, x in found.items() if name[0] != "_" and (hasattr(x, "fun") or module == "numpy")}


@pytest.mark.parametrize("module", MODULES)
def test_names_are_all_there(module: str) -> None:
    ours = import_module(f"lawful.autograd.{module}")
    own = functions(module) - LEFT_OUT - (IMPORTED if module.startswith("scipy.stats") else set())
    missing = {name for name in own if not hasattr(ours, name)}
    assert missing == set()


def test_operators_are_all_there() -> None:
    public = {name for name, x in vars(autograd).items() if callable(x) and name[0] != "_"}
    assert public <= set(lawful.autograd.__all__)


CASES: dict[str, tuple[str, str, tuple[Any, ...], int]] = {
    "gammaln": ("special", "gammaln", (2.5,), 0),
    "digamma": ("special", "digamma", (2.5,), 0),
    "gammainc": ("special", "gammainc", (2.5, 1.5), 1),
    "jn": ("special", "jn", (2, 1.5), 1),
    "j0": ("special", "j0", (1.5,), 0),
    "j1": ("special", "j1", (1.5,), 0),
    "y0": ("special", "y0", (1.5,), 0),
    "y1": ("special", "y1", (1.5,), 0),
    "yn": ("special", "yn", (2, 1.5), 1),
    "iv": ("special", "iv", (1.5, 0.7), 1),
    "ive": ("special", "ive", (2, -0.7), 1),
    "beta": ("special", "beta", (2.0, 3.0), 0),
    "norm.logcdf": ("stats.norm", "logcdf", (0.3, 0.1, 2.0), 2),
    "t.logpdf": ("stats.t", "logpdf", (0.3, 3.0, 0.1, 2.0), 1),
    "gamma.pdf": ("stats.gamma", "pdf", (0.3, 3.0), 1),
    "beta.pdf": ("stats.beta", "pdf", (0.3, 3.0, 2.0), 2),
    "dirichlet": ("stats.dirichlet", "logpdf", (numpy.array([0.2, 0.8]), numpy.array([1.5, 2.0])), 1),
    "sqrtm": ("linalg", "sqrtm", (numpy.array([[4.0, 1.0], [0.5, 3.0]]),), 0),
    "sylvester": ("linalg", "solve_sylvester", (numpy.diag([4.0, 1.0]) + 1.0, numpy.eye(2), numpy.ones((2, 2))), 0),
    "banded": ("linalg", "solve_banded", ((1, 1), numpy.arange(1.0, 13.0).reshape(3, 4) ** 0.5, numpy.ones(4)), 1),
    "convolve": ("signal", "convolve", (numpy.arange(5.0), numpy.array([1.0, 3.0])), 0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")  # SciPy's and Autograd's own
def test_functions_of_scipy_agree(case: str) -> None:
    module, name, args, argnum = CASES[case]
    found = []
    for package in ("autograd", "lawful.autograd"):
        function = getattr(import_module(f"{package}.scipy.{module}"), name)
        operators = import_module(package)
        value, gradient = function(*args), operators.elementwise_grad(function, argnum)(*args)
        found.append((value, gradient))
    for expected, got in zip(*found, strict=True):
        assert numpy.allclose(expected, got, rtol=1e-7, atol=1e-10)


@pytest.mark.filterwarnings("ignore")  # SciPy's and Autograd's own
def test_odeint_agrees() -> None:
    found = []
    for package in ("autograd", "lawful.autograd"):
        np, operators = import_module(f"{package}.numpy"), import_module(package)
        odeint = import_module(f"{package}.scipy.integrate").odeint

        def end(y0: Any, t: Any, a: Any, odeint: Any = odeint, np: Any = np, ag: Any = operators) -> Any:
            ys = odeint(lambda y, t, a: -a * y + np.sin(t) * y[::-1], y0, t, ag.tuple((a,)), rtol=1e-10, atol=1e-10)
            return np.sum(ys**2)

        point = (numpy.array([1.0, 2.0]), numpy.array([0.3, 0.7, 1.5]), numpy.array([0.5, 1.0]))
        found.append(operators.grad(end, (0, 1, 2))(*point))
    for expected, got in zip(*found, strict=True):
        assert numpy.allclose(expected, got, rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"tfirst": True}, {"Dfun": True, "h0": 0.01}, {"Dfun": True, "tfirst": True}])
def test_odeint_takes_arguments_and_options_by_name(options: dict[str, Any]) -> None:
    np, operators = import_module("lawful.autograd.numpy"), import_module("lawful.autograd")
    odeint = import_module("lawful.autograd.scipy.integrate").odeint

    def in_order(function: Any) -> Any:
        return (lambda t, y, a: function(y, t, a)) if "tfirst" in options else function

    given = {**options, **({"Dfun": in_order(lambda y, t, a: [[-a]])} if "Dfun" in options else {})}

    def end(a: Any) -> Any:
        slope = in_order(lambda y, t, a: -a * y + t)
        return odeint(slope, y0=np.array([1.0]), t=[0.0, 1.0], args=(a,), rtol=1e-11, atol=1e-11, **given)[-1, 0]

    def exact(a: Any) -> Any:
        return (1.0 + 1.0 / a**2) * np.exp(-a) + 1.0 / a - 1.0 / a**2

    for derivative in (lambda f: f, operators.grad, lambda f: operators.grad(operators.grad(f))):
        assert numpy.isclose(derivative(end)(2.0), derivative(exact)(2.0), rtol=1e-7)


def test_odeint_with_arguments_that_are_no_tuple_is_an_error() -> None:
    odeint = import_module("lawful.autograd.scipy.integrate").odeint
    grad = import_module("lawful.autograd").grad
    for args in (2.0, [2.0], numpy.array([2.0])):
        with pytest.raises(ArgumentTypeError, match=r"odeint: expected a tuple .*; write args=\(a,\) for one"):
            odeint(lambda y, t, a: -a * y, [1.0], [0.0, 1.0], args=args)
    with pytest.raises(ArgumentTypeError, match="odeint: expected a tuple"):
        grad(lambda a: odeint(lambda y, t, a: -a * y, [1.0], [0.0, 1.0], a)[-1, 0])(2.0)
