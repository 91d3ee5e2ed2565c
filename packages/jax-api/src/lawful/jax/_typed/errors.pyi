"""The names that `lawful.jax.errors` looks up. Written by `python -m tools.typed_names`."""

from lawful.core._errors import ArgumentIndexError as _JAXIndexError
from lawful.core._errors import ArgumentTypeError as _JAXTypeError
from lawful.core._errors import ConcretizationTypeError as ConcretizationTypeError
from lawful.core._errors import JaxprTypeError as JaxprTypeError
from lawful.core._errors import TracerArrayConversionError as TracerArrayConversionError
from lawful.core._errors import TracerBoolConversionError as TracerBoolConversionError
from lawful.core._errors import TracerIntegerConversionError as TracerIntegerConversionError
from lawful.core._errors import TracerMaskError as _NonConcreteBooleanIndexError
from lawful.core._errors import UnexpectedTracerError as UnexpectedTracerError
from lawful.xla_backend._errors import XlaError as _JaxRuntimeError

JAXIndexError = _JAXIndexError
JAXTypeError = _JAXTypeError
JaxRuntimeError = _JaxRuntimeError
NonConcreteBooleanIndexError = _NonConcreteBooleanIndexError
