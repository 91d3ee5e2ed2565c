"""The names of NumPy that `lawful.numpy` does not have, each with a reason and an alternative."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy
from lawful.core import LawfulError

_REASONS: Final[dict[str, str]] = {
    # Functions that write to arrays
    "it writes into an array; write x = lawful.numpy.where(mask, values, x)": "copyto putmask",
    # Files, texts and memory
    "it reads or writes files or texts; use NumPy's, outside of transformations": (
        "fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed"
    ),
    "it makes an array of something that is no array; use NumPy's and pass the array": "frombuffer fromiter",
    "it is about how numbers are written; use NumPy's with the value of an array": (
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific "
        "get_printoptions printoptions set_printoptions typename"
    ),
    "a traced array has no place in memory; leave it out, or use NumPy's with arrays": (
        "asanyarray ascontiguousarray asfortranarray isfortran may_share_memory memmap require shares_memory"
    ),
    "it iterates over the elements in Python; use vectorize, or vmap": (
        "broadcast flatiter ndenumerate ndindex nditer nested_iters"
    ),
    # Results that depend on values
    "the dtype of its result depends on values; convert with astype, or take the real part": (
        "emath min_scalar_type real_if_close"
    ),
    "whether it raises an error depends on values; use isfinite": "asarray_chkfinite",
    # Classes and dtypes
    "lawful has no arrays of such dtypes: of booleans, integers, floats and complex numbers only": (
        "busday_count busday_offset busdaycalendar bytes_ char character clongdouble complex256 datetime64 "
        "datetime_as_string datetime_data flexible float128 is_busday isnat longdouble object_ rec recarray record "
        "str_ strings timedelta64 void"
    ),
    "arrays are of one class, numpy.ndarray, and what stands for them; use functions of arrays": (
        "asmatrix bmat ma matrix ndarray poly1d polynomial ufunc"
    ),
    "it is about letters for dtypes; use dtypes, and result_type": "ScalarType mintypecode sctypeDict typecodes",
    # NumPy's infrastructure
    "it is about how NumPy computes; use NumPy's, which counts for what is not compiled": (
        "errstate getbufsize geterr geterrcall setbufsize seterr seterrcall"
    ),
    "lawful.random has random numbers, made of keys": "random",
    "NumPy has removed it; use isin, trapezoid and vstack": "in1d row_stack trapz",
    "it is about NumPy itself; use NumPy's": (
        "__version__ core ctypeslib dtypes exceptions f2py get_include info lib little_endian show_config "
        "show_runtime test testing typing"
    ),
}

#: For each missing name of NumPy the reason and an alternative.
left_out: Final = MappingProxyType({name: reason for reason, names in _REASONS.items() for name in names.split()})


class LeftOutError(LawfulError, AttributeError):
    """Access to a name of NumPy that `lawful.numpy` does not have. The message has the reason and an alternative."""


def missing(name: str) -> LeftOutError:
    """Returns the error for a name that is left out, or that NumPy does not have."""
    reason = left_out.get(name, "nor has NumPy" if not hasattr(numpy, name) else "it is not made yet")
    return LeftOutError(f"lawful.numpy.{name}: expected a name that is there, got one that is not: {reason}")
