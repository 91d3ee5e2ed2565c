"""JAX's names for errors."""

from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    LawfulError,
    TracerMaskError,
)
from lawful.jax._support.devices import xla_backend

JAXTypeError, JAXIndexError = ArgumentTypeError, ArgumentIndexError
NonConcreteBooleanIndexError = TracerMaskError


class CompiledProgramError(LawfulError, RuntimeError):
    """A compiled program failed. Without XLA nothing raises it: NumPy's own errors reach the caller.

    >>> issubclass(CompiledProgramError, RuntimeError)
    True
    """


JaxRuntimeError: type[LawfulError] = CompiledProgramError if xla_backend is None else xla_backend.XlaError
