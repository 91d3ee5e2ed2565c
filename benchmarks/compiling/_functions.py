"""The functions of ``ops`` and ``special``, as programs to compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks._systems import System

#: Applied once, to its own result, and to three pieces of the input, summed.
FORMS = ("alone", "of itself", "sum of three")
#: The modules of each system by the names of lawful's.
MODULES: dict[str, dict[str, tuple[str, ...]]] = {
    "lawful": {name: (f"lawful.{name}",) for name in ("ops", "special")},
    "jax": {
        "ops": ("jax.lax", "jax.lax.linalg", "jax.numpy", "jax.numpy.linalg", "jax.scipy.special"),
        "special": ("jax.scipy.special",),
    },
}
Call = Callable[..., Any]
Program = tuple[Call, tuple[Any, ...]]

VECTOR = np.linspace(0.25, 0.75, 9)
INTEGERS = np.arange(1, 10)
BOOLEANS = INTEGERS > 4
MATRIX = np.eye(3) * 4 + 1 / (1 + np.arange(9.0).reshape(3, 3))
MATRIX = (MATRIX + MATRIX.T) / 2
#: Possible arguments of a function; the first that it accepts are used.
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (VECTOR,),
    (VECTOR, VECTOR[::-1].copy()),
    (VECTOR, VECTOR[::-1].copy(), VECTOR + 1),
    (INTEGERS,),
    (INTEGERS, INTEGERS[::-1].copy()),
    (BOOLEANS, VECTOR, VECTOR[::-1].copy()),
    (MATRIX,),
    (MATRIX, MATRIX[0]),
)
IMAGE = np.linspace(-1.0, 1.0, 36).reshape(1, 1, 6, 6)
#: Functions that need parameters: the call, and its arguments.
CALLS: dict[str, tuple[Call, tuple[Any, ...]]] = {
    **{
        name: (lambda f, x: f(x, (0,)), (VECTOR,))
        for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")
    },
    **{name: (lambda f, x: f(x, (0,)), (BOOLEANS,)) for name in ("reduce_and", "reduce_or", "reduce_xor")},
    **{name: (lambda f, x: f(x, 0, np.int32), (VECTOR,)) for name in ("argmax", "argmin")},
    **{name: (lambda f, x, y: f(x, y), (VECTOR, VECTOR)) for name in ("eq", "ne", "lt", "le", "gt", "ge", "complex")},
    "bessel_in": (lambda f, x: f(x, 2), (VECTOR,)),
    "bessel_jn": (lambda f, x: f(x, v=3), (VECTOR,)),
    "hyp2f1": (lambda f, a, b, c: f(a, b, c, a), (VECTOR, VECTOR[::-1].copy(), VECTOR + 1)),
    **{name: (lambda f, x: f(x), (VECTOR + 0.5j,)) for name in ("loggamma", "wofz")},
    "polygamma": (lambda f, x: f(2, x), (VECTOR,)),
    "zeta": (lambda f, x, q: f(x, q), (VECTOR + 1.5, VECTOR)),
    "multigammaln": (lambda f, x: f(x, 2), (VECTOR + 2,)),
    "integer_pow": (lambda f, x: f(x, 7), (VECTOR,)),
    "bitcast_convert_type": (lambda f, x: f(x, np.uint64), (VECTOR,)),
    "convert_element_type": (lambda f, x: f(x, np.float32), (VECTOR,)),
    "reduce_precision": (lambda f, x: f(x, 5, 10), (VECTOR,)),
    "concatenate": (lambda f, x: f([x, x], 0), (VECTOR,)),
    "pad": (lambda f, x: f(x, 0.0, [(1, 1, 1)]), (VECTOR,)),
    "rev": (lambda f, x: f(x, (0,)), (VECTOR,)),
    "transpose": (lambda f, x: f(x, (1, 0)), (MATRIX,)),
    "reshape": (lambda f, x: f(x, (9,)), (MATRIX,)),
    "slice": (lambda f, x: f(x, (1,), (7,)), (VECTOR,)),
    "dynamic_slice": (lambda f, x, i: f(x, (i,), (4,)), (VECTOR, np.int32(2))),
    "dynamic_update_slice": (lambda f, x, i: f(x, x[:4], (i,)), (VECTOR, np.int32(2))),
    "top_k": (lambda f, x: f(x, 4)[0], (VECTOR,)),
    "sort_key_val": (lambda f, x, y: f(x, y)[1], (VECTOR, VECTOR)),
    "dot_general": (lambda f, x: f(x, x, (((1,), (0,)), ((), ()))), (MATRIX,)),
    "conv_general_dilated": (lambda f, x: f(x, x[:, :, :3, :3], (1, 1), "SAME"), (IMAGE,)),
    "fft": (lambda f, x: f(x, "fft", (9,)), (VECTOR + 0j,)),
    **{name: (lambda f, x: f(x)[0], (MATRIX,)) for name in ("lu", "eig", "eigh", "qr", "slogdet")},
    "svd": (lambda f, x: f(x)[1], (MATRIX,)),
    "triangular_solve": (lambda f, x: f(x, x, left_side=True, lower=True), (MATRIX,)),
}  # fmt: skip


def function_of(system: str, module: str, name: str) -> Call | None:
    """Returns a function of a system; None if it has none of the name."""
    found = (getattr(import_module(m), name, None) for m in MODULES[system][module])
    return next((function for function in found if function is not None), None)


def call_of(module: str, name: str) -> tuple[Call, tuple[Any, ...], bool] | None:
    """Returns a function's call, its arguments, and whether it takes its own result; None if it is not measured."""
    from lawful.core import get_aval
    from lawful.staging import eval_shape

    function = function_of("lawful", module, name)
    if not callable(function) or isinstance(function, type) or name.endswith("_p"):
        return None
    given = [CALLS[name]] if name in CALLS else [(lambda f, *args: f(*args), args) for args in ARGUMENTS]
    for call, args in given:
        try:
            out = eval_shape(lambda *args, call=call: call(function, *args), *args)
        except Exception:  # wrong arguments may raise anything
            continue
        if hasattr(out, "shape") and hasattr(out, "dtype"):
            return call, args, (out.shape, out.dtype) == (get_aval(args[0]).shape, get_aval(args[0]).dtype)
    return None


def functions(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yields module, name and form of each program; with words, of functions with one of them in their name."""
    for module in MODULES["lawful"]:
        for name in sorted(import_module(f"lawful.{module}").__all__):
            if words and not any(word in name for word in words):
                continue
            found = call_of(module, name)
            if found is not None:
                yield from ((module, name, form) for form in FORMS if found[2] or form != "of itself")


def program_of(system: System, module: str, name: str, form: str) -> Program | None:
    """Returns a program and its arguments; None if the system has no such function."""
    function, found = function_of(system.name, module, name), call_of(module, name)
    if function is None or found is None:
        return None
    call, args, _ = found

    def f(*args: Any) -> Any:
        return call(function, *args)

    if form == "of itself":
        return lambda x, *rest: f(f(x, *rest), *rest), args
    if form == "alone":
        return f, args
    if name not in CALLS and all(np.shape(x) == VECTOR.shape for x in args):
        return lambda *args: sum(f(*[x[i : i + 3] for x in args]) for i in (0, 3, 6)), args
    stacked = tuple(np.stack([x] * 3) for x in args)
    return lambda *args: sum(f(*[x[i] for x in args]) for i in range(3)), stacked
