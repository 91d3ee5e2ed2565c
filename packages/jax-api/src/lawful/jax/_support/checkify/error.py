"""``Error``: whether a check of a program failed, and which; a pytree of arrays."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final

import numpy

from lawful import tree
from lawful.core import Tracer
from lawful.jax._support.checkify.primitive import JaxRuntimeError, check_p, failure


class ErrorCategory(enum.Enum):
    """What `checkify` looks for: only failed calls of `check`."""

    FAILED_CHECK = "failed check"
    NAN = "NaN"
    DIVISION_BY_ZERO = "division by zero"
    OUT_OF_BOUNDS = "index out of bounds"


user_checks: Final = frozenset({ErrorCategory.FAILED_CHECK})
nan_checks: Final = frozenset({ErrorCategory.NAN})
div_checks: Final = frozenset({ErrorCategory.DIVISION_BY_ZERO})
index_checks: Final = frozenset({ErrorCategory.OUT_OF_BOUNDS})
float_checks: Final = nan_checks | div_checks
automatic_checks: Final = float_checks | index_checks
all_checks: Final = automatic_checks | user_checks

#: For each check of a program its message and the tree of the values in it.
Checks = tuple[tuple[str, Any], ...]


class Error:
    """Whether a check of a program failed: what a function of `checkify` returns beside the result.

    Args:
      code: which check failed, by position; -1 for none. It has the dimensions of batches.
      payloads: for each check the values for its message.
      checks: the messages, and the trees of the values.

    >>> Error(numpy.int32(-1), (), ()).get() is None
    True

    Source: ``jax.experimental.checkify.Error``.
    """

    def __init__(self, code: Any, payloads: Any, checks: Checks) -> None:
        self._code = code
        self._payloads = payloads
        self._checks = checks

    def get(self) -> str | None:
        """Returns the text of the failed check, or of the failed check of each element of a batch; None for none."""
        code = numpy.asarray(self._code)
        texts = []
        for index in zip(*numpy.nonzero(code >= 0), strict=True) if code.ndim else [()] * int(code >= 0):
            which = code[index]
            message, in_tree = self._checks[which]
            text = failure(message, in_tree, [numpy.asarray(x)[index] for x in self._payloads[which]])
            texts.append(f"at mapped index {', '.join(map(str, index))}: {text}" if index else text)
        return "\n".join(texts) or None

    def throw(self) -> None:
        """Raises a `JaxRuntimeError` if a check failed."""
        check_error(self)

    def __repr__(self) -> str:
        return f"Error({'traced' if isinstance(self._code, Tracer) else self.get()})"


def _unflatten(checks: Checks, children: Sequence[Any]) -> Error:
    code, payloads = children
    return Error(code, payloads, checks)


tree.register_node(Error, lambda error: ((error._code, error._payloads), error._checks), _unflatten)

init_error: Final = Error(numpy.int32(-1), (), ())


def check_error(error: Error) -> None:
    """Raises a `JaxRuntimeError` if a check failed; where ``error`` is traced, it states its checks again.

    >>> check_error(init_error)

    Source: ``jax.experimental.checkify.check_error``.
    """
    if not isinstance(error._code, Tracer):
        if text := error.get():
            raise JaxRuntimeError(text)
        return
    for which, (message, in_tree) in enumerate(error._checks):
        holds = error._code != numpy.int32(which)
        check_p.bind(holds, *error._payloads[which], message=message, in_tree=in_tree, debug=False)
