"""A sample of laws and variants for one case, for searches over many cases.

Many cases with few checks each find planted faults sooner than few cases with many checks: one case with every variant
of every law takes as long as twenty others. So a slow law is tried on a share of the cases, and most cases get one
variant of each group. A backend that compiles slowly has few cases, and a slow law few of these. Samples differ by
case, so that every law and variant is tried.
"""

from __future__ import annotations

import random
from typing import Final

from lawful.laws._law.effort import Effort, quick, thorough, usual
from lawful.laws._law.law import Law

#: The shares of checks on which more than one variant of each group is tried.
_DEEPER: Final = ((thorough, 1 / 256), (usual, 1 / 32))
#: The share of cases compiled with a backend other than NumPy's, where compilation is slow.
_COMPILED: Final = 1 / 16


def sampled_effort(
    law: Law, source: str, seed: int, *, share: float | None = None, backend: str = "numpy"
) -> Effort | None:
    """Returns with how much effort a law is tried on a case; None if it is left to other cases.

    With a backend other than NumPy's, a call of a primitive takes seven times as long. So the effort is least, and a
    law that is tried on a share of the cases is tried on the same share of these: one of 1/8 on 1/64.

    Args:
      law: the law.
      source: the name of the source of the case.
      seed: what the case is drawn with.
      share: on which share of the cases it is tried, with every backend; by default the law's own.
      backend: the backend that `jit` compiles the case with; empty for a system's own compiler.

    >>> from lawful.laws import laws
    >>> efforts = [sampled_effort(laws["scan_is_loop"], "smooth", seed) for seed in range(800)]
    >>> 25 < sum(effort is not None for effort in efforts) < 100
    True
    """
    draw = random.Random(f"{law.name}, {source}, {seed}")
    compiles_fast = backend in ("", "numpy")
    if share is None:
        share = law.share if compiles_fast else law.share**2
    if draw.random() >= share:
        return None
    if not compiles_fast:
        return quick
    depth = draw.random()
    for effort, part in _DEEPER:
        if depth < part:
            return effort
        depth -= part
    return quick


def sampled_backend(backends: tuple[str, ...], source: str, seed: int) -> str:
    """Returns what `jit` compiles a case with: NumPy's backend mostly, another one on a share of the cases.

    NumPy plays the devices of programs on meshes, so that other backends do not compile these.

    >>> {sampled_backend(("numpy", "xla"), "smooth", seed) for seed in range(100)} == {"numpy", "xla"}
    True
    """
    draw = random.Random(f"backend, {source}, {seed}")
    others = [name for name in backends if name != "numpy" and source != "sharded"]
    if others and (len(others) == len(backends) or draw.random() < _COMPILED):
        return draw.choice(others)
    return "numpy"
