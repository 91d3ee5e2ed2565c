"""The types that cotangents may have."""

from lawful.core import ShapedArray, is_inexact


def may_be_of_number(got: ShapedArray, expected: ShapedArray) -> bool:
    """Whether a cotangent may be that of a Python number: it has the dtype of the arrays beside the number.

    >>> from lawful.core import get_aval
    >>> may_be_of_number(ShapedArray((), "float32"), get_aval(2.0))
    True
    """
    is_real = got.dtype.kind != "c" or expected.dtype.kind == "c"
    return expected.weak_type and got.shape == expected.shape and is_inexact(got.dtype) and is_real
