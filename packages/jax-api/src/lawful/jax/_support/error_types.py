"""JAX's names for errors."""

from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    LawfulError,
    TracerMaskError,
)

JAXTypeError, JAXIndexError = ArgumentTypeError, ArgumentIndexError
NonConcreteBooleanIndexError, JaxRuntimeError = TracerMaskError, LawfulError
