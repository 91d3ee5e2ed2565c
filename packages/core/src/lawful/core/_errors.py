"""The errors that a user can meet, each with its cause and its cure.

Every message begins with the line of the user's program that is running. All classes derive from
:class:`LawfulError` and from the built-in class that fits, so that ``except TypeError`` works as in NumPy.
"""

from __future__ import annotations

from lawful.tree.base import (
    ArgumentValueError,
    LawfulError,
    NestingError,
    TreeNodeError,
    TreeStructureError,
    TreeTransposeError,
    TreeTypeError,
    shorten,
)

__all__ = [
    "ArgumentValueError",
    "LawfulError",
    "NestingError",
    "TreeNodeError",
    "TreeStructureError",
    "TreeTransposeError",
    "TreeTypeError",
    "shorten",
]


class ArgumentTypeError(LawfulError, TypeError):
    """An argument has the wrong kind, shape or dtype for the function that it was given to."""


class ArgumentIndexError(LawfulError, IndexError):
    """An array was indexed outside of its bounds, with too many indices, or with something that is no index."""


class InvalidArgumentError(ArgumentValueError, ArgumentTypeError):
    """An argument that NumPy refuses with one of ValueError and TypeError, and JAX with the other."""


class IndexTypeError(ArgumentIndexError, ArgumentTypeError):
    """An array was indexed with something that is no index: NumPy raises IndexError for it, and JAX TypeError."""


class ShapeMismatchError(InvalidArgumentError):
    """Arrays have shapes that do not fit each other: NumPy raises ValueError for these, and JAX TypeError."""


class CallbackResultError(ArgumentTypeError, RuntimeError):
    """The Python function of a callback returned another structure, shape or dtype than the program expects."""


class IntegerOverflowError(LawfulError, OverflowError):
    """A Python integer does not fit the 64 bits that an array's integer has."""


class NonArrayError(LawfulError, TypeError):
    """A value that is neither an array nor a number was given, or returned, where an array belongs.

    Cause: a string, a ragged list, an object or a masked array went into an op or a transformed function.
    Cure: convert it with ``numpy.asarray``, pass a list of numbers as an array, or mark the argument static.
    """


class NonNumberError(NonArrayError, ValueError):
    """A masked array, or a list with None in it, was given where an array of numbers belongs."""


class NonFiniteError(LawfulError, FloatingPointError):
    """An operation gave a NaN, or an infinity, while ``lawful.debug.debug_nans`` looks for them.

    Attributes:
      blame: the equation that made it, a ``lawful.debug.Blame``; None after unpickling.
    """

    blame: object = None


class ConcretizationTypeError(LawfulError, TypeError):
    """The value of an abstract tracer was asked for while only its shape and dtype are known.

    Cause: under ``jit`` and ``make_jaxpr`` a function runs once for all values of a shape and dtype, so that
    ``float(x)`` has no answer. Cure: keep the computation in lawful ops, or make the argument static.
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """An abstract tracer was used as a condition: ``if x > 0``, ``x and y``, ``while x``.

    Cure: ``lawful.control_flow.cond``, ``lawful.numpy.where``, or ``static_argnums`` of ``jit``.
    """


class TracerMaskError(TracerBoolConversionError, ArgumentIndexError):
    """An array was indexed with an abstract tracer of booleans, whose values would decide a shape.

    Cure: ``lawful.numpy.where(mask, x, y)``, ``x.at[mask].set(1)``, or ``lawful.numpy.nonzero(mask, size=n)``.
    """


class TracerIntegerConversionError(ConcretizationTypeError):
    """An abstract tracer was used as a Python integer: ``range(n)``, ``items[i]``, ``int(n)``, a shape.

    Cure: ``static_argnums`` of ``jit`` if the number decides shapes.
    """


class TracerArrayConversionError(ConcretizationTypeError):
    """A tracer was given to code that needs a NumPy array, such as ``numpy.asarray``.

    Cure: use the function of ``lawful.numpy`` of the same name.
    """


class UnexpectedTracerError(LawfulError, RuntimeError):
    """A tracer was used after the transformation that made it had ended, or in a function that takes values only.

    Cause: the traced function stored a tracer in a global, an attribute or a list. Cure: return it as an output. A
    function that takes values only is called outside of transformations.
    """


class TracerThreadError(UnexpectedTracerError):
    """A tracer was used in a thread other than the one whose transformation made it.

    Cure: return values from the traced function, and start threads outside of it.
    """


class MissingRuleError(LawfulError, NotImplementedError):
    """A transformation met a primitive that has no rule for it. Cure: the message names the defining call."""


class AbsentRuleError(MissingRuleError, ValueError):
    """A transformation met a primitive whose rule cannot exist. The message says why, and what to write instead."""


class UndefinedRuleError(MissingRuleError, AttributeError):
    """A function with custom rules was called before the rule was defined. The message names the defining call."""


class NotLinearError(LawfulError, TypeError):
    """A function that is not linear was to be transposed.

    Cause: ``linear_transpose`` of ``x * x``, or a jvp rule that multiplies two tangents. Cure: transpose by one
    factor, with the other as a constant; or use ``vjp``, which linearizes first.
    """


class JaxprTypeError(LawfulError, TypeError):
    """A jaxpr is not well typed: a variable is unbound or bound twice, or an equation has the wrong type."""


class JaxprParseError(LawfulError, ValueError):
    """A text is not a jaxpr in the grammar that jaxprs print in."""
