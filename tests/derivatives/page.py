"""Write `docs/derivatives.md`: derivatives where a function has none, of lawful and of JAX, as both compute them.

uv run python -m tests.derivatives.page --write
uv run python -m tests.derivatives.page          # says whether the page is up to date
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import lawful.numpy as lnp
from lawful.autodiff import grad

PAGE = Path(__file__).resolve().parents[2] / "docs/derivatives.md"
ORDERS = 3
HEAD = """# Derivatives where there are none

Written by `tests/derivatives/page.py`, which computes both columns; a test holds compiled programs to the first one.

Wherever a derivative exists, lawful gives it. This page is the convention for the other points: kinks, jumps, ends of
domains and infinite values. A cell has the derivatives by `x` of orders 1 to 3; they are those of JAX unless a value is
written in its column. Forward and reverse mode agree, eagerly and compiled.

```python
>>> import lawful.numpy as lnp
>>> from lawful.autodiff import grad
>>> grad(lambda x: lnp.maximum(x, 2.0))(2.0)
0.5

```

| function | at x = | lawful | JAX, if different | reason |
|---|---|---|---|---|
"""
TIE, KINK, JUMP = "a tie is shared equally", "a kink", "a jump; zero on both sides"
STEEP, LENGTH = "the limit from inside of the domain", "a length has no direction at 0"
SIDE, FIRST = "the piece at the right", "equal elements keep their order"
#: Expressions in ``x`` and NumPy's names, the point, and why the derivative does not exist or which one is chosen.
ROWS: tuple[tuple[str, float, str], ...] = (
    ("abs(x)", 0.0, KINK + ": that of the right side"),
    ("sign(x)", 0.0, JUMP),
    ("floor(x)", 1.0, JUMP),
    ("round(x)", 0.5, JUMP),
    ("heaviside(x, 0.5)", 0.0, JUMP),
    ("maximum(x, 2.0)", 2.0, TIE),
    ("minimum(x, 2.0)", 2.0, TIE),
    ("fmax(x, 2.0)", 2.0, TIE),
    ("maximum(x, 2.0)", math.nan, "no operand is the result"),
    ("clip(x, 0.0, 1.0)", 1.0, TIE),
    ("max(stack([x, 2.0, 2.0]))", 2.0, TIE),
    ("max(stack([x, 2.0]))", math.nan, "NaN has no place"),
    ("sort(stack([x, 2.0]))[0]", 2.0, FIRST),
    ("median(stack([x, 2.0, 2.0]))", 2.0, FIRST),
    ("remainder(x, 2.0)", 2.0, "a jump; the slope is that of both sides"),
    ("fmod(5.0, x)", 2.5, "a jump; the slope is that of one side"),
    ("copysign(x, 2.0)", 0.0, KINK + ": that of the right side"),
    ("sqrt(x)", 0.0, STEEP),
    ("cbrt(x)", 0.0, STEEP),
    ("log(x)", 0.0, STEEP),
    ("power(x, 0.5)", 0.0, STEEP),
    ("power(0.0, x)", 0.0, "0 for x > 0, 1 at 0"),
    ("power(-2.0, x)", 2.0, "complex beside the integers"),
    ("arctan2(x, 0.0)", 0.0, "the origin has no angle"),
    ("hypot(x, 0.0)", 0.0, LENGTH),
    ("linalg.norm(stack([x, 0.0]))", 0.0, LENGTH),
    ("std(stack([x, 2.0]))", 2.0, LENGTH),
    ("interp(x, array([0.0, 1.0, 2.0]), array([0.0, 1.0, 5.0]))", 1.0, SIDE),
    ("interp(x, array([0.0, 1.0, 2.0]), array([0.0, 1.0, 5.0]))", 2.0, SIDE),
    ("quantile(array([1.0, 2.0, 4.0]), x)", 0.5, SIDE),
    ("logaddexp(x, -inf)", -math.inf, "no share of nothing"),
    ("logaddexp(x, inf)", math.inf, "both are the result"),
    ("linalg.det(stack([stack([x, 0.0]), stack([0.0, 0.0])]))", 0.0, "exists: a polynomial"),
    ("linalg.slogdet(stack([stack([x, 0.0]), stack([0.0, 1.0])]))[1]", 0.0, "a pole"),
    ("linalg.pinv(stack([stack([x, 0.0]), stack([0.0, 1.0])]))[0, 0]", 0.0, "the rank changes"),
)


def function_of(expression: str, namespace: Any) -> Callable[[Any], Any]:
    """Returns the function of ``x`` that an expression in the names of an array namespace is."""
    code = compile(expression, "<row>", "eval")
    return lambda x: eval(code, {name: getattr(namespace, name) for name in dir(namespace)}, {"x": x})


def derivatives(function: Callable[[Any], Any], differentiate: Any) -> list[Callable[[Any], Any]]:
    """Returns the derivatives of orders 1 to 3."""
    found = [differentiate(function)]
    for _ in range(ORDERS - 1):
        found.append(differentiate(found[-1]))
    return found


def values(expression: str, point: float, namespace: Any, differentiate: Any) -> list[float]:
    """Returns the derivatives of an expression at a point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [float(f(point)) for f in derivatives(function_of(expression, namespace), differentiate)]


TAIL = """
## A branch that is not taken

`where` and `select` choose between values. Both operands are computed, and an infinite derivative times the zero
cotangent of an operand that is not chosen is NaN, as in JAX. The cure is a second `where`, which gives the operand a
harmless argument:

```python
>>> import numpy
>>> with numpy.errstate(all="ignore"):
...     grad(lambda x: lnp.where(x > 0.0, lnp.sqrt(x), 0.0))(0.0)
nan
>>> grad(lambda x: lnp.where(x > 0.0, lnp.sqrt(lnp.where(x > 0.0, x, 1.0)), 0.0))(0.0)
0.0

```

`piecewise`, `cond` and `switch` take functions, and evaluate none at elements that do not take it, also in a batch:

```python
>>> grad(lambda x: lnp.piecewise(x, [x > 0.0], [lnp.sqrt, 0.0]))(0.0)
0.0

```
"""


def page() -> str:
    """Returns the page."""
    with jax.enable_x64(True):
        lines = [_row(*row) for row in ROWS]
    return HEAD + "\n".join([*lines, ""]) + TAIL


def _row(expression: str, point: float, reason: str) -> str:
    ours, theirs = values(expression, point, lnp, grad), values(expression, point, jnp, jax.grad)
    same = np.allclose(ours, theirs, rtol=1e-9, equal_nan=True)
    return f"| `{expression}` | {point:g} | {_text(ours)} | {'' if same else _text(theirs)} | {reason} |"


def _text(numbers: list[float]) -> str:
    return ", ".join([f"{number + 0.0:.6g}" for number in numbers])


def main() -> int:
    parser = argparse.ArgumentParser(description="The page of derivatives where there are none.")
    parser.add_argument("--write", action="store_true", help="write the page")
    if parser.parse_args().write:
        PAGE.write_text(page())
        return 0
    is_current = PAGE.read_text() == page()
    print("up to date" if is_current else "not up to date; run with --write")
    return int(not is_current)


if __name__ == "__main__":
    sys.exit(main())
