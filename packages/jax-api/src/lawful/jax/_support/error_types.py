"""JAX's names for errors."""

from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ConcretizationTypeError,
    LawfulError,
)

JAXTypeError, JAXIndexError = ArgumentTypeError, ArgumentIndexError
NonConcreteBooleanIndexError, JaxRuntimeError = ConcretizationTypeError, LawfulError
