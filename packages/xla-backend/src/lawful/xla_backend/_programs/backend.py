"""The XLA backend of ``jit``: lowers a jaxpr to StableHLO, compiles it, and runs it on device arrays.

>>> import numpy as np
>>> from lawful.core import parse_jaxpr
>>> program = parse_jaxpr("{ lambda ; a:f64[2] . let b:f64[2] = mul a a in ( b ) }")
>>> compiled = backend.lower(program, name="square").compile()
>>> compiled(np.array([1.0, 3.0]))
[Array([1., 9.], dtype=float64)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lawful.core import ClosedJaxpr
from lawful.staging import dce_jaxpr, register_backend
from lawful.xla_backend._programs.lowered import Lowered
from lawful.xla_backend._runtime import clients


class Backend:
    """A backend: of any platform, ``"xla"``, where programs run where their arguments are; or of one, ``"cuda"``.

    Args:
      name: what ``jit(backend=)`` takes: the name of the entry point.
      platform: where its programs run, wherever their arguments are; None for where their arguments are, by default on
        the default platform.

    >>> cpu = Backend("cpu", platform="cpu")
    >>> cpu.name, cpu.platform, backend.name
    ('cpu', 'cpu', 'xla')
    """

    def __init__(self, name: str = "xla", platform: str | None = None) -> None:
        self.name = name
        self._platform = platform

    @property
    def platform(self) -> str:
        """The name of the platform that programs run on by default, such as ``"cpu"``."""
        return self._platform or clients.default_platform()

    def lower(self, closed: ClosedJaxpr, *, name: str, donated: Sequence[int] = ()) -> Lowered:
        """Lowers a program to StableHLO, without its dead code.

        Args:
          closed: the program.
          name: the function's name, for messages and the lowered text.
          donated: the positions of the arguments that a call uses up: results may take their memory.

        Raises:
          MissingRuleError: a primitive has no lowering rule.
          LoweringError: a lowering rule builds an operation that is not well typed.
        """
        closed = dce_jaxpr(closed, (True,) * len(closed.out_avals))
        return Lowered(closed, name, donated, self.platform, follows_arguments=self._platform is None)


backend: Final = Backend("xla")
cpu: Final = Backend("cpu", "cpu")
cuda: Final = Backend("cuda", "cuda")
gpu: Final = Backend("gpu", "cuda")
for _backend in (backend, cpu, cuda, gpu):
    register_backend(_backend)
