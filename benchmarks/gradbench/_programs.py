"""The programs of `examples`, for each system: a module is loaded once more with a peer in the place of lawful."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from benchmarks._systems import systems

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
#: The module and the name of each objective.
OBJECTIVES: Final = {
    "gmm": ("gmm", "gmm"),
    "bundle adjustment": ("bundle_adjustment", "bundle_adjustment"),
    "hand tracking": ("hand_tracking", "hand_tracking"),
    "hand tracking, complicated": ("hand_tracking", "hand_tracking_complicated"),
    "lstm": ("lstm", "lstm"),
    "kmeans": ("kmeans", "kmeans"),
    "lse": ("log_sum_exp", "logsumexp"),
    "llsq": ("least_squares", "least_squares"),
    "ode": ("ode", "ode"),
    "det": ("determinant", "determinant"),
    "hello": ("hello", "hello"),
}
#: The objectives that Autograd runs as they stand. The others use `vmap`, which it does not have.
OF_AUTOGRAD: Final = ("lstm", "kmeans", "lse", "llsq", "ode", "det", "hello")


def objective(system: str, name: str) -> Any:
    """Returns the `Objective` of a name, computed by a system."""
    module, attribute = OBJECTIVES[name]
    return getattr(_module(system, f"gradbench.{module}"), attribute)


def nested(system: str) -> Any:
    """Returns the module of the programs "saddle" and "particle", computed by a system."""
    return _module(system, "nested")


@cache
def _module(system: str, name: str) -> Any:
    if system not in PEERS:
        system = "lawful"
    with _imported_afresh(PEERS[system]() if system != "lawful" else {}):
        return import_module(name)


@contextmanager
def _imported_afresh(stand_ins: dict[str, Any]) -> Iterator[None]:
    """Lets modules of `examples` be imported once more, with other modules in the place of those of lawful."""

    def is_meant(name: str) -> bool:
        return name.split(".")[0] in ("gradbench", "nested") or name in stand_ins

    before = {name: module for name, module in sys.modules.items() if is_meant(name)}
    for name in before:
        del sys.modules[name]
    sys.modules.update(stand_ins)
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield
    finally:
        sys.path.remove(str(EXAMPLES))
        for name in [*filter(is_meant, sys.modules)]:
            del sys.modules[name]
        sys.modules.update(before)


def _package(**modules: Any) -> dict[str, Any]:
    """Returns a package named `lawful` with modules, by their names in `sys.modules`."""
    from lawful import tree

    package = ModuleType("lawful")
    modules = {"tree": tree, **modules}
    for name, module in modules.items():
        setattr(package, name, module)
    return {"lawful": package, **{f"lawful.{name}": module for name, module in modules.items()}}


def _with(name: str, **attributes: Any) -> ModuleType:
    module = ModuleType(f"lawful.{name}")
    vars(module).update(attributes)
    return module


def _staging(jit: Callable[..., Any]) -> ModuleType:
    return _with("staging", jit=jit, get_backend=None)


def _jax() -> dict[str, Any]:
    """Returns JAX by lawful's names."""
    systems["jax"]()  # sets 64 bits
    import jax
    from jax.scipy.special import expit, logsumexp, multigammaln

    def at(x: Any) -> Any:
        return x.at

    autodiff = _with("autodiff", grad=jax.grad, jvp=jax.jvp, jacfwd=jax.jacfwd, jacrev=jax.jacrev)
    return _package(
        numpy=jax.numpy,
        autodiff=autodiff,
        batching=_with("batching", vmap=jax.vmap),
        control_flow=_with("control_flow", scan=jax.lax.scan, cond=jax.lax.cond, while_loop=jax.lax.while_loop),
        ops=_with("ops", at=at),
        special=_with("special", expit=expit, logsumexp=logsumexp, multigammaln=multigammaln),
        staging=_staging(jax.jit),
    )


def _autograd() -> dict[str, Any]:
    """Returns Autograd by lawful's names, with loops of Python for loops."""
    import autograd
    import autograd.numpy as np
    from autograd.scipy.special import expit, logsumexp, multigammaln

    def scan(f: Any, carry: Any, xs: Any) -> Any:
        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, None if ys[0] is None else np.stack(ys)

    def cond(is_true: Any, if_true: Any, if_false: Any, *args: Any) -> Any:
        return if_true(*args) if is_true else if_false(*args)

    def while_loop(goes_on: Any, body: Any, state: Any) -> Any:
        while goes_on(state):
            state = body(state)
        return state

    def jvp(f: Any, primals: tuple[Any], tangents: tuple[Any]) -> Any:
        return autograd.make_jvp(f)(*primals)(*tangents)

    return _package(
        numpy=np,
        autodiff=_with("autodiff", grad=autograd.grad, jvp=jvp, jacrev=autograd.jacobian, jacfwd=None),
        control_flow=_with("control_flow", scan=scan, cond=cond, while_loop=while_loop),
        special=_with("special", expit=expit, logsumexp=logsumexp, multigammaln=multigammaln),
        staging=_staging(lambda f: f),
    )


PEERS: Final[dict[str, Callable[[], dict[str, Any]]]] = {"jax": _jax, "autograd": _autograd}
