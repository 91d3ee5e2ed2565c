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
    """An argument has the wrong kind, shape or dtype for the function that it was given to.

    >>> from lawful.core import eval_closed_jaxpr
    >>> eval_closed_jaxpr(2.0)
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: eval_closed_jaxpr: expected a ClosedJaxpr, got 2.0 of type float; ...
    """


class ArgumentIndexError(LawfulError, IndexError):
    """An array was indexed outside of its bounds, with too many indices, or with something that is no index.

    >>> issubclass(ArgumentIndexError, IndexError)
    True
    """


class InvalidArgumentError(ArgumentValueError, ArgumentTypeError):
    """An argument that NumPy refuses with one of ValueError and TypeError, and JAX with the other.

    >>> issubclass(InvalidArgumentError, ValueError), issubclass(InvalidArgumentError, TypeError)
    (True, True)
    """


class IndexTypeError(ArgumentIndexError, ArgumentTypeError):
    """An array was indexed with something that is no index: NumPy raises IndexError for it, and JAX TypeError.

    >>> issubclass(IndexTypeError, IndexError), issubclass(IndexTypeError, TypeError)
    (True, True)
    """


class ShapeMismatchError(InvalidArgumentError):
    """Arrays have shapes that do not fit each other: NumPy raises ValueError for these, and JAX TypeError.

    >>> issubclass(ShapeMismatchError, ValueError), issubclass(ShapeMismatchError, TypeError)
    (True, True)
    """


class CallbackResultError(ArgumentTypeError, RuntimeError):
    """The Python function of a callback returned another structure, shape or dtype than the program expects.

    >>> issubclass(CallbackResultError, TypeError), issubclass(CallbackResultError, RuntimeError)
    (True, True)
    """


class IntegerOverflowError(LawfulError, OverflowError):
    """A Python integer does not fit the 64 bits that an array's integer has.

    >>> from lawful.core import get_aval
    >>> get_aval(2**63)
    Traceback (most recent call last):
    lawful.core._errors.IntegerOverflowError: ...: integer: expected a value that fits int64, got ...
    """


class NonArrayError(LawfulError, TypeError):
    """A value that is neither an array nor a number was given, or returned, where an array belongs.

    Cause: a string, a ragged list, an object or a masked array went into an op or a transformed function.
    Cure: convert it with ``numpy.asarray``, pass a list of numbers as an array, or mark the argument static.

    >>> from lawful.core import get_aval
    >>> get_aval("text")
    Traceback (most recent call last):
    lawful.core._errors.NonArrayError: ...: array: expected an array or number, got 'text' of type str; ...
    """


class NonNumberError(NonArrayError, ValueError):
    """A masked array, or a list with None in it, was given where an array of numbers belongs.

    >>> import numpy as np
    >>> from lawful.core import get_aval
    >>> get_aval(np.ma.masked_equal([1, 2], 2))
    Traceback (most recent call last):
    lawful.core._errors.NonNumberError: ...: array: expected a plain array, got MaskedArray; ...
    """


class NonFiniteError(LawfulError, FloatingPointError):
    """An operation gave a NaN, or an infinity, while ``lawful.debug.debug_nans`` looks for them.

    Attributes:
      blame: the equation that made it, a ``lawful.debug.Blame``; None after unpickling.

    >>> NonFiniteError("log: got a NaN").blame is None
    True
    """

    blame: object = None


class ConcretizationTypeError(LawfulError, TypeError):
    """The value of an abstract tracer was asked for while only its shape and dtype are known.

    Cause: under ``jit`` and ``make_jaxpr`` a function runs once for all values of a shape and dtype, so that
    ``float(x)`` has no answer. Cure: keep the computation in lawful ops, or make the argument static.

    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((), float), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> float(x)
    Traceback (most recent call last):
    lawful.core._errors.ConcretizationTypeError: ...: float: expected a concrete value, got the abstract tracer ...
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """An abstract tracer was used as a condition: ``if x > 0``, ``x and y``, ``while x``.

    Cure: ``lawful.control_flow.cond``, ``lawful.numpy.where``, or ``static_argnums`` of ``jit``.

    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((), bool), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> 1 if x else 2
    Traceback (most recent call last):
    lawful.core._errors.TracerBoolConversionError: ...: bool: expected a concrete value, got the abstract tracer ...
    """


class TracerMaskError(TracerBoolConversionError, ArgumentIndexError):
    """An array was indexed with an abstract tracer of booleans, whose values would decide a shape.

    Cure: ``lawful.numpy.where(mask, x, y)``, ``x.at[mask].set(1)``, or ``lawful.numpy.nonzero(mask, size=n)``.

    >>> issubclass(TracerMaskError, IndexError)
    True
    """


class TracerIntegerConversionError(ConcretizationTypeError):
    """An abstract tracer was used as a Python integer: ``range(n)``, ``items[i]``, ``int(n)``, a shape.

    Cure: ``static_argnums`` of ``jit`` if the number decides shapes.

    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((), int), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> range(x)
    Traceback (most recent call last):
    lawful.core._errors.TracerIntegerConversionError: ...: index: expected a concrete value, got the abstract tracer ...
    """


class TracerArrayConversionError(ConcretizationTypeError):
    """A tracer was given to code that needs a NumPy array, such as ``numpy.asarray``.

    Cure: use the function of ``lawful.numpy`` of the same name.

    >>> import numpy as np
    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((3,), float), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> np.asarray(x)
    Traceback (most recent call last):
    lawful.core._errors.TracerArrayConversionError: ...: expected a NumPy array, got a tracer f64[3] of jit; ...
    """


class UnexpectedTracerError(LawfulError, RuntimeError):
    """A tracer was used after the transformation that made it had ended, or in a function that takes values only.

    Cause: the traced function stored a tracer in a global, an attribute or a list. Cure: return it as an output. A
    function that takes values only is called outside of transformations.

    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((), float), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> trace.active = False
    >>> float(x)
    Traceback (most recent call last):
    lawful.core._errors.UnexpectedTracerError: ...got the tracer f64[] of jit, which has ended; ...
    """


class TracerThreadError(UnexpectedTracerError):
    """A tracer was used in a thread other than the one whose transformation made it.

    Cure: return values from the traced function, and start threads outside of it.

    >>> from lawful.core import ShapedArray, Trace, Tracer
    >>> aval, trace = ShapedArray((), float), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> trace.thread = 0
    >>> float(x)
    Traceback (most recent call last):
    lawful.core._errors.TracerThreadError: ...got the tracer f64[] of jit in another thread; ...
    """


class MissingRuleError(LawfulError, NotImplementedError):
    """A transformation met a primitive that has no rule for it. Cure: the message names the defining call.

    >>> from lawful.core import Primitive
    >>> Primitive("double").bind(2.0)
    Traceback (most recent call last):
    lawful.core._errors.MissingRuleError: ... rule for 'double' not implemented; define it with double_p.def_impl
    """


class AbsentRuleError(MissingRuleError, ValueError):
    """A transformation met a primitive whose rule cannot exist. The message says why, and what to write instead.

    >>> from lawful.core import Primitive
    >>> chop_p = Primitive("chop")
    >>> chop_p.declare_absent("transpose", "it is not linear")
    >>> chop_p.rule("transpose")
    Traceback (most recent call last):
    lawful.core._errors.AbsentRuleError: ...: Transpose rule for 'chop' does not exist: it is not linear
    """


class UndefinedRuleError(MissingRuleError, AttributeError):
    """A function with custom rules was called before the rule was defined. The message names the defining call.

    >>> issubclass(UndefinedRuleError, MissingRuleError), issubclass(UndefinedRuleError, AttributeError)
    (True, True)
    """


class NotLinearError(LawfulError, TypeError):
    """A function that is not linear was to be transposed.

    Cause: ``linear_transpose`` of ``x * x``, or a jvp rule that multiplies two tangents. Cure: transpose by one
    factor, with the other as a constant; or use ``vjp``, which linearizes first.

    >>> issubclass(NotLinearError, TypeError)
    True
    """


class JaxprTypeError(LawfulError, TypeError):
    """A jaxpr is not well typed: a variable is unbound or bound twice, or an equation has the wrong type.

    >>> from lawful.core import check_jaxpr, Primitive, parse_jaxpr
    >>> double_p = Primitive("double")
    >>> _ = double_p.def_abstract_eval(lambda x: x)
    >>> check_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let b:f32[] = double a in (b,) }"))
    Traceback (most recent call last):
    lawful.core._errors.JaxprTypeError: ...: jaxpr: expected the results f64[] in `b:f32[] = double a`, ...
    """


class JaxprParseError(LawfulError, ValueError):
    """A text is not a jaxpr in the grammar that jaxprs print in.

    >>> from lawful.core import parse_jaxpr
    >>> parse_jaxpr("{ lambda ; a:f64[]. let in (b,) }")
    Traceback (most recent call last):
    lawful.core._errors.JaxprParseError: ...
    """
