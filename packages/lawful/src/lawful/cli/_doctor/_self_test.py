"""A self-test of seconds: small programs with known answers, by each backend."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from time import perf_counter
from typing import Any, Final

import numpy as np

from lawful.cli._doctor._runtime import error_text

_THREEFRY: Final = np.uint64(0x6B20015999BA4EFE)


def self_test() -> list[dict[str, Any]]:
    """Returns a row for each check: what it found, whether that is right, and how long it took."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("eager operations", _eager),
        ("derivatives", _derivatives),
        ("batches", _batches),
        ("loops", _loops),
        ("linear algebra", _linear_algebra),
        ("random numbers", _random),
    ]
    names = sorted({point.name for point in entry_points(group="lawful.backends")})
    checks += [(f"jit by {name}", lambda name=name: _compiled(name)) for name in names]  # type: ignore[misc]
    return [_row(name, check) for name, check in checks]


def _row(name: str, check: Callable[[], str]) -> dict[str, Any]:
    start = perf_counter()
    try:
        wrong = check()
    except Exception as error:  # whatever is broken
        wrong = error_text(error)
    seconds = perf_counter() - start
    detail = wrong or f"{1e3 * seconds:.0f} ms"
    return {"name": name, "detail": detail, "state": "bad" if wrong else "ok", "seconds": seconds}


def _compare(found: Any, expected: Any) -> str:
    """Returns what is wrong, or nothing."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"expected {expected.dtype}{list(expected.shape)}, got {found.dtype}{list(found.shape)}"
    if np.allclose(found, expected, rtol=1e-12, atol=1e-12):
        return ""
    return f"expected {expected.tolist()}, got {found.tolist()}"


def _eager() -> str:
    import lawful.numpy as lnp

    x = np.array([0.0, 0.5, 1.0])
    return _compare(lnp.sum(lnp.sin(x) ** 2 + lnp.cos(x) ** 2), np.float64(3.0))


def _derivatives() -> str:
    import lawful.numpy as lnp
    from lawful.autodiff import grad, jvp

    x = np.array([0.5, 1.0])
    wrong = _compare(grad(lambda x: lnp.sum(lnp.sin(x) * x))(x), np.cos(x) * x + np.sin(x))
    return wrong or _compare(jvp(lnp.exp, (x,), (x,))[1], np.exp(x) * x)


def _batches() -> str:
    import lawful.numpy as lnp
    from lawful.batching import vmap

    x = np.arange(12.0).reshape(3, 4)
    return _compare(vmap(lambda row: lnp.dot(row, row))(x), (x * x).sum(1))


def _geometric(x: Any) -> Any:
    """Returns x + x² + … + x⁵, in a loop."""
    from lawful.control_flow import scan

    return scan(lambda power, _: (power * x, power * x), 1.0, None, length=5)[1].sum()


def _loops() -> str:
    from lawful.autodiff import grad

    return _compare(grad(_geometric)(0.5), np.float64(sum(n * 0.5 ** (n - 1) for n in range(1, 6))))


def _linear_algebra() -> str:
    import lawful.numpy as lnp

    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    wrong = _compare(lnp.linalg.solve(a, np.array([1.0, 2.0])), np.array([1.0, 7.0]) / 11.0)
    return wrong or _compare(lnp.linalg.cholesky(a) @ lnp.linalg.cholesky(a).T, a)


def _random() -> str:
    from lawful import ops, random

    # A published value: threefry2x32 of the counter 0 by the key 0, of Random123.
    zero = np.zeros((), np.uint32)
    wrong = _compare(ops.random_bits((zero, zero), (zero, zero)), _THREEFRY)
    draws = np.asarray(random.uniform(random.key(0), (64,)))
    spread = ((draws >= 0) & (draws < 1)).all() and len({*draws.tolist()}) == 64
    return wrong or ("" if spread else f"expected 64 numbers in [0, 1), got {draws.tolist()}")


def _compiled(name: str) -> str:
    """Compares a compiled gradient with the eager one, in float64 and float32."""
    import lawful.numpy as lnp
    from lawful.autodiff import grad
    from lawful.staging import jit

    def loss(w: Any, x: Any) -> Any:
        return lnp.sum(lnp.tanh(x @ w) ** 2) + _geometric(w[0, 0])

    x, w = np.linspace(-1.0, 1.0, 6).reshape(2, 3), np.linspace(0.0, 0.5, 6).reshape(3, 2)
    wrong = _compare(jit(grad(loss), backend=name)(w, x), grad(loss)(w, x))
    if wrong:
        return wrong
    found = np.asarray(jit(lambda x: lnp.exp(x), backend=name)(x.astype(np.float32)))
    close = found.dtype == np.float32 and np.allclose(found, np.exp(x), rtol=1e-5)
    return "" if close else f"expected exp in float32, got {found.dtype} {found.tolist()}"
