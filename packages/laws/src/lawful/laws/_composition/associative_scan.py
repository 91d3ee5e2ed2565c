"""The law of associative scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ShapedArray, get_aval
from lawful.laws._derivatives.directions import is_floating
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law

Function = Callable[..., Any]


@law("loops", needs=("associative_scan",))
def law_associative_scan_is_loop(trial: Trial) -> Claims:
    """Combining pairs first gives what combining one after the other gives.

    Equation: associative_scan(f, xs)[i] = f(… f(f(x₀, x₁), x₂) …, xᵢ)

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no array of real numbers to scan.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_associative_scan_is_loop(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    system = trial.system
    ops = system.ops

    def is_scanned(aval: ShapedArray) -> bool:
        return is_floating(aval) and aval.ndim > 0 and aval.dtype.kind == "f"

    arrays = [x for x in tree.leaves(trial.args) if is_scanned(get_aval(x))]
    if not arrays:
        raise Inapplicable("associative_scan: expected an array of real numbers, got none")

    def composed(left: Any, right: Any) -> Any:
        return [ops.mul(left[0], right[0]), ops.add(ops.mul(right[0], left[1]), right[1])]

    single = [("add", ops.add), ("mul", ops.mul), ("max", ops.max)]
    functions: list[tuple[str, Function]] = [(name, lambda a, b, f=f: [f(a[0], b[0])]) for name, f in single]
    for x in trial.some(arrays):
        axis = int(trial.random.integers(-x.ndim, x.ndim))
        for name, function in trial.some([*functions, ("composition", composed)]):
            xs = [x, x * 0.5] if function is composed else [x]
            for reverse in trial.some((False, True)):
                rows = [[np.take(y, i, axis) for y in xs] for i in range(x.shape[axis])]
                totals: list[Any] = []
                for row in reversed(rows) if reverse else rows:
                    totals.append(function(totals[-1], row) if totals else row)
                if not totals:
                    continue
                ordered = totals[::-1] if reverse else totals
                expected = [np.stack([np.asarray(system.numpy(t[k])) for t in ordered], axis) for k in range(len(xs))]
                found = system.scope["associative_scan"](function, xs, reverse, axis)
                yield Claim(f"associative_scan({name}, x, {reverse}, {axis})", found, "the loop", expected)
