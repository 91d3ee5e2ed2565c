"""``Error``: whether there is an error in a program, and which; a pytree of arrays."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final

import numpy

from lawful import tree
from lawful.checkify._primitive import CheckError, check_p, failure
from lawful.core import Tracer, float0


class ErrorCategory(enum.Enum):
    """A kind of error that `checkify` looks for.

    Sets of them, for ``errors=``: `user_checks`, `nan_checks`, `div_checks` and `index_checks` have one each,
    `float_checks` those of NaNs and divisions, `automatic_checks` all but `user_checks`, `all_checks` all.

    >>> ErrorCategory.FAILED_CHECK in user_checks
    True

    Source: ``jax.experimental.checkify.ErrorCategory``.
    """

    FAILED_CHECK = "failed check"
    NAN = "NaN"
    DIVISION_BY_ZERO = "division by zero"
    OUT_OF_BOUNDS = "index out of bounds"


#: Failed calls of `check`, for ``errors=`` of `checkify`.
user_checks: Final = frozenset({ErrorCategory.FAILED_CHECK})
#: Operations that give a NaN; not those that move, choose or convert elements.
nan_checks: Final = frozenset({ErrorCategory.NAN})
#: Divisions by zero, of floats and of integers; not remainders and negative powers, as in JAX.
div_checks: Final = frozenset({ErrorCategory.DIVISION_BY_ZERO})
#: Windows that are read or written out of bounds, whatever the ``mode=``, after negative indices count from the end.
index_checks: Final = frozenset({ErrorCategory.OUT_OF_BOUNDS})
#: NaNs and divisions by zero.
float_checks: Final = nan_checks | div_checks
#: All that a program does not state itself.
automatic_checks: Final = float_checks | index_checks
#: All categories.
all_checks: Final = automatic_checks | user_checks

#: For each site of a program its message and the tree of the values in it; None where it has no values.
Checks = tuple[tuple[str, Any], ...]


class Error:
    """Whether there is an error in a program: what a function of `checkify` returns beside the result.

    It is a pytree of arrays, which transformations and compiled programs take and return.

    Args:
      code: int32 of shape ``()``, or of the shape of a batch: the position of the site with the error; -1 for none.
      payloads: for each site the tuple of the arrays for its message, each with the dimensions of the batch in front.
      checks: for each site the message, and the tree of the values, or None.

    >>> Error(numpy.int32(-1), (), ()).get() is None
    True

    Source: ``jax.experimental.checkify.Error``.
    """

    def __init__(self, code: Any, payloads: Any, checks: Checks) -> None:
        self._code = code
        self._payloads = payloads
        self._checks = checks

    def get(self) -> str | None:
        """Returns the text of the error, or None, also for the tangent of an error.

        For a batch it has a line for each element with an error.

        Raises:
          TracerArrayConversionError: the error is traced.

        >>> init_error.get() is None
        True

        Source: ``jax.experimental.checkify.Error.get``.
        """
        code = numpy.asarray(self._code)
        if code.dtype == float0:
            return None
        texts = []
        for index in zip(*numpy.nonzero(code >= 0), strict=True) if code.ndim else [()] * int(code >= 0):
            which = code[index]
            message, in_tree = self._checks[which]
            text = failure(message, in_tree, [numpy.asarray(x)[index] for x in self._payloads[which]])
            texts.append(f"at mapped index {', '.join(map(str, index))}: {text}" if index else text)
        return "\n".join(texts) or None

    def throw(self) -> None:
        """Raises the error, if any; see `check_error`.

        Raises:
          CheckError: there is an error.

        >>> init_error.throw()

        Source: ``jax.experimental.checkify.Error.throw``.
        """
        check_error(self)

    def __repr__(self) -> str:
        return f"Error({'traced' if isinstance(self._code, Tracer) else self.get()})"


def _unflatten(checks: Checks, children: Sequence[Any]) -> Error:
    code, payloads = children
    return Error(code, payloads, checks)


tree.register_node(Error, lambda error: ((error._code, error._payloads), error._checks), _unflatten)

#: The error of a program without checks.
init_error: Final = Error(numpy.int32(-1), (), ())


def check_error(error: Error) -> None:
    """Raises the error, if any; where ``error`` is traced, it states checks that fail as the program did.

    Args:
      error: an error that a function of `checkify` returned.

    Raises:
      CheckError: there is an error.

    >>> check_error(init_error)

    Source: ``jax.experimental.checkify.check_error``.
    """
    if not isinstance(error._code, Tracer):
        if text := error.get():
            raise CheckError(text)
        return
    for which, (message, in_tree) in enumerate(error._checks):
        holds = error._code != numpy.int32(which)
        check_p.bind(holds, *error._payloads[which], message=message, in_tree=in_tree, debug=False)
