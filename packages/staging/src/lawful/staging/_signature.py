"""From a call ``f(*args, **kwargs)`` with static arguments and pytrees to a flat function of arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    ShapedArray,
    Tracer,
    as_dtype,
    avals_of,
    current,
    get_aval,
    is_array,
    record,
    shorten,
    unusable_tracer,
)
from lawful.ops import static_integers


@record
class Statics:
    """Which arguments of a function are static: positions (from 0, negative from the end) and names.

    >>> Statics((1,)).split("jit", (2.0, "relu"), {})
    ((2.0,), {}, ((1, 'relu'),))
    """

    argnums: tuple[int, ...] = ()
    argnames: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.argnums or self.argnames)

    def union(self, other: Statics) -> Statics:
        """Returns the arguments that are static by one of both."""
        nums, names = {*self.argnums, *other.argnums}, {*self.argnames, *other.argnames}
        return Statics(tuple(sorted(nums)), tuple(sorted(names)))

    def split(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, hashable: bool = True
    ) -> tuple[tuple[Any, ...], dict[str, Any], tuple[tuple[int | str, Hashable], ...]]:
        """Returns the dynamic positional and keyword arguments, and the static ones with their numbers or names.

        Args:
          name: of the transformation and the function, for errors.
          args: the positional arguments.
          kwargs: the keyword arguments.
          hashable: whether to refuse static arguments that cannot be part of a key.
        """
        positions = {argnum % len(args) if argnum < 0 and args else argnum for argnum in self.argnums}
        static: list[tuple[int | str, Hashable]] = [(i, args[i]) for i in sorted(positions) if 0 <= i < len(args)]
        static += [(key, kwargs[key]) for key in sorted(self.argnames) if key in kwargs]
        for argument, value in static if hashable else ():
            _require_hashable(name, argument, value)
        dynamic = tuple(x for i, x in enumerate(args) if i not in positions)
        return dynamic, {key: x for key, x in kwargs.items() if key not in self.argnames}, tuple(static)


def merge(
    dynamic: tuple[Any, ...], kwargs: dict[str, Any], static: tuple[tuple[int | str, Hashable], ...]
) -> tuple[list[Any], dict[str, Any]]:
    """Returns the arguments and keyword arguments that ``Statics.split`` took apart.

    >>> merge((2.0,), {}, ((1, "relu"),))
    ([2.0, 'relu'], {})
    """
    args = list(dynamic)
    kwargs = dict(kwargs)
    for argument, value in static:
        if isinstance(argument, str):
            kwargs[argument] = value
        else:
            args.insert(argument, value)
    return args, kwargs


def _require_hashable(name: str, argument: int | str, value: Any) -> None:
    try:
        hash(value)
    except TypeError as error:
        which = f"argument {argument}" if isinstance(argument, int) else f"argument '{argument}'"
        if isinstance(value, Tracer):
            raise ArgumentValueError(
                f"{name}: expected a hashable static {which}, got {shorten(value)}, which is traced; mark it static in "
                f"{value._trace.transformation} too, or by jit around what that traces, or close over its value"
            ) from error
        raise ArgumentValueError(
            f"{name}: expected a hashable static {which}, got {value!r} of type {type(value).__name__}; "
            "make it a tuple or a frozen dataclass, or leave it out of static_argnums"
        ) from error


def as_tuple(name: str, value: Any, kind: type) -> tuple[Any, ...]:
    """Returns an integer or string, a sequence of them, or None as a tuple; raises ArgumentTypeError for others.

    >>> (
    ...     as_tuple("static_argnums", 0, int),
    ...     as_tuple("static_argnums", [0, 2], int),
    ...     as_tuple("static_argnums", None, int),
    ... )
    ((0,), (0, 2), ())
    """
    if value is None:
        return ()
    values = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    if not all(isinstance(x, kind) and not isinstance(x, bool) for x in values):
        raise ArgumentTypeError(f"{name}: expected {kind.__name__} or a sequence of them, got {value!r}")
    return values


def statics_of(function: Callable[..., Any], argnums: Any, argnames: Any, adjective: str = "static") -> Statics:
    """Returns the static, or the donated, arguments of a function, by position and by name where both are known.

    Where both are given, neither is inferred from the other.

    Raises:
      ArgumentValueError: the function has no such argument.

    >>> statics_of(lambda x, activation: x, 1, None)
    Statics(argnums=(1,), argnames=('activation',))
    """
    nums, names = as_tuple(f"{adjective}_argnums", argnums, int), as_tuple(f"{adjective}_argnames", argnames, str)
    if not nums and not names:
        return Statics()
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        if names and adjective == "donate":
            raise ArgumentValueError(
                f"donate_argnames: expected a function with a signature, got {function_name(function)}, which "
                "has none; give donate_argnums"
            ) from None
        return Statics(nums, names)
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    takes_any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
    known = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    nameless = {p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)}
    label = function_name(function)
    for num in nums:
        if not takes_any and not -len(positional) <= num < len(positional):
            raise ArgumentValueError(
                f"{adjective}_argnums: expected positions of the {len(positional)} positional arguments of {label}, "
                f"got {num}; count from 0"
            )
    for argname in names:
        if argname in nameless or (not takes_any_name and argname not in known):
            raise ArgumentValueError(
                f"{adjective}_argnames: expected names of arguments of {label} ({', '.join(sorted(known))}), got "
                f"'{argname}'"
            )
    if not takes_any:
        nums = tuple(num % len(positional) for num in nums)
    if argnums is not None and argnames is not None:
        return Statics(tuple(sorted({*nums})), tuple(sorted({*names})))
    by_name = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
    also_names = {positional[num] for num in nums if 0 <= num < len(positional)} & by_name
    also_nums = {positional.index(argname) for argname in names if argname in positional}
    return Statics(tuple(sorted({*nums, *also_nums})), tuple(sorted({*names, *also_names})))


def donated_of(function: Callable[..., Any], argnums: Any, argnames: Any, statics: Statics) -> Statics:
    """Returns the donated arguments of a function, by position and by name where both are known.

    Raises:
      ArgumentValueError: the function has no such argument, or it is static.
    """
    donated = statics_of(function, argnums, argnames, "donate")
    both = [*{*statics.argnums} & {*donated.argnums}, *{*statics.argnames} & {*donated.argnames}]
    if both:
        raise ArgumentValueError(
            f"donate_argnums: expected arguments of {function_name(function)} that are not static, got {both[0]!r}, "
            "which is both; leave it out of one"
        )
    return donated


def function_name(function: Callable[..., Any]) -> str:
    """Returns the name of a function for messages, also of a partial or a callable object.

    >>> from functools import partial
    >>> function_name(max), function_name(partial(max, 0))
    ('max', 'max')
    """
    inner = getattr(function, "func", function)
    return getattr(inner, "__name__", type(inner).__name__)


def in_avals(name: str, args: Any, leaves: Sequence[Any], *, values: bool = True) -> tuple[ShapedArray, ...]:
    """Returns the types of the leaves of a call's arguments.

    Args:
      name: for messages.
      args: the arguments.
      leaves: their leaves.
      values: whether these must be arrays; else any object with a shape and a dtype has a type.

    Raises:
      NonArrayError: a leaf is not an array; the error names its path among the arguments.
      ArgumentTypeError: an array has another dtype, such as object; the error names its path too.
      UnexpectedTracerError: a leaf is a tracer that was kept after its transformation.

    >>> in_avals("jit of f", ((2.0, 3),), [2.0, 3])
    (ShapedArray(~f64[]), ShapedArray(~i64[]))
    """
    for leaf in leaves:
        if isinstance(leaf, Tracer):
            require_usable(leaf)
    try:
        return avals_of(leaves)
    except NonArrayError as error:
        kind = type(error)
        if not values and all([is_array(leaf) or has_type(leaf) for leaf in leaves]):
            return tuple([get_aval(leaf) if is_array(leaf) else _described(name, leaf) for leaf in leaves])
    except ArgumentTypeError:
        refuse_dtypes(name, args)
        raise
    for path, leaf in tree.leaves_with_path(args):
        if not is_array(leaf) and (values or not has_type(leaf)):
            raise kind(
                f"{name}: expected arrays or numbers as arguments, got {shorten(leaf)} of type {type(leaf).__name__} "
                f"at {describe_argument(path)}; {_cure(name, leaf)}"
            )
    raise AssertionError("a leaf without a type was not found again")


def refuse_dtypes(name: str, args: Any) -> None:
    """Raises ArgumentTypeError for an array among the arguments whose dtype is not supported, and names its path.

    >>> import numpy as np
    >>> refuse_dtypes("jit of f", ((np.array([None]),), {}))
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: jit of f: argument 0: dtype: expected one of bool, ... got object; ...
    """
    for path, leaf in tree.leaves_with_path(args):
        try:
            _ = get_aval(leaf) if is_array(leaf) else None
        except ArgumentTypeError as error:
            raise type(error)(f"{name}: {describe_argument(path)}: {error.message}") from None


def has_type(x: Any) -> bool:
    """Whether an object that need not be an array has the shape and dtype of one.

    >>> has_type("text"), has_type(float)
    (False, False)
    """
    return hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, type)  # NumPy's scalar types have both


def _described(name: str, x: Any) -> ShapedArray:
    """Returns the type that an object has by its attributes."""
    return ShapedArray(static_integers(name, "shape", x.shape), as_dtype(x.dtype), bool(getattr(x, "weak_type", False)))


def require_usable(tracer: Tracer) -> None:
    """Raises UnexpectedTracerError unless a tracer is of a transformation that encloses the current one.

    >>> from lawful.staging import make_jaxpr
    >>> kept = []
    >>> _ = make_jaxpr(lambda x: kept.append(x) or x)(2.0)
    >>> require_usable(kept[0])
    Traceback (most recent call last):
    lawful.core._errors.UnexpectedTracerError: ...got the tracer ~f64[] of make_jaxpr made at ..., which has ended; ...
    """
    if not (tracer._trace.active and tracer._trace.encloses(current.trace)):
        raise unusable_tracer(tracer)


def describe_argument(path: Sequence[Any]) -> str:
    """Returns the words for a key path into ``(args, kwargs)``.

    >>> path, _ = tree.leaves_with_path((({"w": 2.0},), {}))[0]
    >>> describe_argument(path)
    "argument 0['w']"
    """
    (group, argument, *rest) = path
    first = f"argument {argument.idx}" if group.idx == 0 else f"argument '{argument.key}'"
    return f"{first}{tree.keystr(tuple(rest))}"


def argument_names(function: Callable[..., Any], in_tree: Any) -> list[str]:
    """Returns the name of each leaf of the arguments ``(args, kwargs)``, as the user writes it: ``params['w']``.

    Args:
      function: the function; without a signature that the arguments fit, its arguments are ``args[0]``, ``args[1]``.
      in_tree: the tree of the arguments.

    >>> argument_names(lambda params, x: x, tree.structure((({"w": 2.0}, 3.0), {})))
    ["params['w']", 'x']
    """
    args, kwargs = tree.unflatten(in_tree, range(in_tree.num_leaves))
    try:
        signature = inspect.signature(function)
        bound = signature.bind_partial(*args, **kwargs)
    except (TypeError, ValueError):  # a builtin has no signature
        signature = inspect.signature(lambda *args, **kwargs: None)
        bound = signature.bind(*args, **kwargs)
    names = {}
    for name, value in bound.arguments.items():
        by_name = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        for path, index in tree.leaves_with_path(value):
            names[index] = f"{path[0].key}{tree.keystr(path[1:])}" if by_name else f"{name}{tree.keystr(path)}"
    return [names[index] for index in range(in_tree.num_leaves)]


#: Transformations with an argument ``static_argnums``.
_WITH_STATICS = frozenset({"jit", "make_jaxpr", "checkpoint"})


def _cure(name: str, leaf: Any) -> str:
    tracer = name.split(" of ")[0]
    static = f"mark it static (static_argnums of {tracer})" if tracer in _WITH_STATICS else "close over it"
    if isinstance(leaf, Iterator):
        return "it can be read only once: give its elements as a list, a tuple or an array"
    if isinstance(leaf, str) or callable(leaf):
        return static
    return f"convert it with numpy.asarray, register its type as a pytree node, or {static}"


def flatten_outputs(name: str, result: Any) -> tuple[list[Any], Any]:
    """Returns the leaves of a function's result and their tree.

    Raises:
      NonArrayError: a leaf is not an array; the error names its path in the result.
      UnexpectedTracerError: a leaf is a tracer that was kept after its transformation.

    >>> flatten_outputs("jit of f", {"b": 1.0, "a": (2.0,)})
    ([2.0, 1.0], PyTreeDef({'a': (*,), 'b': *}))
    """
    leaves, treedef = tree.flatten(result)
    for leaf in leaves:
        if isinstance(leaf, Tracer):
            require_usable(leaf)
        elif not is_array(leaf):
            break
    else:
        return leaves, treedef
    for path, leaf in tree.leaves_with_path(result):
        if not is_array(leaf):
            raise NonArrayError(
                f"{name}: expected a function that returns arrays or numbers, got {shorten(leaf)} of type "
                f"{type(leaf).__name__} at result{tree.keystr(path)}; return arrays, numbers, or trees of them"
            )
    raise AssertionError("a leaf that is no array was not found again")


#: Functions that take a function and its arguments in one call.
_CALLED_AT_ONCE = frozenset(
    {"vjp", "jvp", "linearize", "jet", "eval_shape", "saved_residuals", "closure_convert", "linear_call",
     "linear_transpose", "debug.callback"}
)  # fmt: skip


def require_callable(transformation: str, function: Any) -> None:
    """Raises ArgumentTypeError if a transformation was given something other than a function.

    >>> require_callable("jit", 2.0)
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: jit: expected a function, got 2.0 of type float; write jit(f)(x), ...
    """
    if not callable(function):
        right = "f, …" if transformation in _CALLED_AT_ONCE else "f)(x"
        raise ArgumentTypeError(
            f"{transformation}: expected a function, got {shorten(function)} of type {type(function).__name__}; "
            f"write {transformation}({right}), not {transformation}(f(x))"
        )
