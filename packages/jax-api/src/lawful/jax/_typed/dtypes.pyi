"""The names that `lawful.jax.dtypes` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.core._errors import ArgumentTypeError as _TypePromotionError
from lawful.jax._support.numpy.dtype_functions import extended as extended
from lawful.jax._support.numpy.dtype_functions import prng_key as prng_key
from ml_dtypes import bfloat16 as bfloat16

TypePromotionError = _TypePromotionError
canonicalize_dtype: Callable[..., Any]
finfo: Callable[..., Any]
float0: Any
iinfo: Callable[..., Any]
issubdtype: Callable[..., Any]
itemsize_bits: Callable[..., Any]
result_type: Callable[..., Any]
scalar_type_of: Callable[..., Any]
