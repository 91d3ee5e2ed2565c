"""Laws of single primitives: their declarations are true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff import jvp, linear_transpose, linearize
from lawful.core import (
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    instantiate_zeros,
    is_inexact,
    jaxprs_in_params,
    zeros,
)
from lawful.laws._derivatives.directions import normal, pairing
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._primitives.edges import special_values
from lawful.staging import make_jaxpr, numpy_function


def _call_of(trial: Trial) -> PrimitiveCall:
    """Returns the case as what these laws are about.

    Raises:
      Inapplicable: it is another function.
    """
    if not isinstance(trial.case, PrimitiveCall):
        raise Inapplicable("law: expected a call of a primitive, got a function")
    return trial.case


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_reference(trial: Trial) -> Claims:
    """A primitive is its NumPy reference: evaluated, staged and compiled; and its type rule says what it gives.

    Equation: impl(x) = reference(x) = jit(impl)(x), and abstract_eval(aval(x)) = aval(impl(x))

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_reference(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    call, args = _call_of(trial), trial.args
    primitive = call.primitive
    declaration = primitive.declaration
    out = call(*args)
    if declaration is not None and declaration.reference is not None:
        expected = declaration.reference(*_arrays(args), **call.params)
        yield Claim("the primitive", out, "its reference", expected)
        # The order of a complex product, or of one in a jaxpr parameter, decides infinity times zero.
        if all(get_aval(x).dtype.kind != "c" for x in args) and not any(jaxprs_in_params(call.params)):
            special = trial.comparable(tuple([special_values(trial, x) for x in args]))
            expected = declaration.reference(*_arrays(special), **call.params)
            yield Claim("the primitive at special numbers", call(*special), "its reference", expected)
    stated = primitive.rule("abstract_eval")(*map(get_aval, args), **call.params)
    found = [get_aval(x) for x in out] if primitive.multiple_results else get_aval(out)
    if stated != found:
        yield Fault(f"its type rule says that it gives {stated}, it gives {found}")
    closed = make_jaxpr(call)(*args)
    outs = out if primitive.multiple_results else [out]
    yield Claim(
        "its jaxpr evaluated", eval_closed_jaxpr(closed, *args), "the primitive", outs, "nothing", weakness=True
    )
    for backend in trial.system.backends:
        compiled = trial.system.jit(call, backend)(*args)
        yield Claim(f"compiled by {backend}", compiled, "the primitive", out, weakness=True)


def _arrays(args: tuple[Any, ...]) -> list[Any]:
    """Returns arguments with arrays in place of Python numbers: a reference is a function of arrays."""
    return [np.asarray(x) if get_aval(x).weak_type else x for x in args]


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_specialised(trial: Trial) -> Claims:
    """What a primitive gives the NumPy backend to call for some types is its implementation, wherever elements are.

    Equation: numpy(aval(x))(x) = impl(x), of contiguous x and of any other

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the primitive has no rule ``numpy``.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_specialised(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    call, args = _call_of(trial), trial.args
    primitive, params = call.primitive, call.params
    rule = primitive.rules.get("numpy")
    if rule is None:
        raise Inapplicable(f"law: expected a primitive with a rule for the NumPy backend, got {primitive!r}")
    function = rule([*map(get_aval, args)], numpy_function, **params)
    for layout, lay_out in _LAYOUTS.items():
        given = [lay_out(x) if type(x) is np.ndarray and x.ndim else x for x in args]
        found, expected = function(*given), primitive.rule("impl")(*given, **params)
        yield Claim(f"what its numpy rule gives, of {layout}", found, "its implementation", expected)
        types = [[type(x) for x in tree.leaves(outs)] for outs in (found, expected)]
        if types[0] != types[1]:
            yield Fault(f"of {layout} its numpy rule gives {types[0]}, its implementation {types[1]}")


#: The same elements in other memory layouts.
_LAYOUTS: Final[dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]]] = {
    "its arguments": lambda x: x,
    "arrays whose first dimension is contiguous": np.asfortranarray,
    "arrays that go backwards": lambda x: np.flip(np.flip(x).copy()),
    "every second element": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "one element repeated": lambda x: np.broadcast_to(x[:1], x.shape),
}


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_transpose(trial: Trial) -> Claims:
    """A primitive is linear in the arguments that it declares to be linear in, and its transpose rule transposes it.

    Equation: f(a v + b w) = a f(v) + b f(w), and ⟨u, f(v)⟩ = ⟨fᵀ u, v⟩

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_transpose(lawful, draw_call(ops.add_p, RandomChoose(3)))
    """
    call, args, random = _call_of(trial), trial.args, trial.random
    declaration = call.primitive.declaration
    if declaration is None or not declaration.linear:
        raise Inapplicable(f"law: expected a declaration of linear arguments, got none of {call.primitive!r}")
    if not any(is_inexact(get_aval(x).dtype) for x in tree.leaves(call(*args))):
        raise Inapplicable("law: expected a result that can be differentiated, got none")
    for group in linear_groups(declaration.linear, len(args)):
        if not all(is_inexact(get_aval(args[i]).dtype) for i in group):
            continue

        linear = linear_in(call, args, group)
        v, w = ([normal(random, get_aval(args[i])) for i in group] for _ in range(2))
        both = [np.asarray(1.5 * a - 0.5 * b).astype(np.asarray(a).dtype) for a, b in zip(v, w, strict=True)]
        out, system = linear(*v), trial.system
        expected = tree.map(
            lambda a, b: np.asarray(1.5 * np.asarray(a) - 0.5 * np.asarray(b)).astype(get_aval(a).dtype),
            out,
            linear(*w),
        )
        yield Claim(f"f(1.5 v − 0.5 w) in arguments {group}", linear(*both), "1.5 f(v) − 0.5 f(w)", expected)
        u = tree.map(lambda x: normal(random, get_aval(x)), out)
        pulled = linear_transpose(linear, *v)(u)
        least = get_aval(tree.leaves(out)[0]).dtype
        left, right = (np.asarray(x).astype(least) for x in (pairing(system, u, out), pairing(system, list(pulled), v)))
        yield Claim(f"⟨u, f(v)⟩ in arguments {group}", left, "⟨fᵀ u, v⟩", right)


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_typing(trial: Trial) -> Claims:
    """The rules of a primitive give the types that belong to its types, so that nothing has to be converted later.

    Equation: aval(jvp(x, v)) = aval(f(x)) for each set of tangents that are not zero, of the tangent's dtype, and
    aval(fᵀ(u)) = aval(x), up to weakness

    A derivative rule computes with functions, which give strong results of weak operands too. So a tangent or cotangent
    of a weak value has its shape and dtype, and may be weak or strong.

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_typing(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    call, args = _call_of(trial), trial.args
    primitive = call.primitive
    for given, mixed in _tangents(trial):
        out, tangent = primitive.rule("jvp")(list(args), mixed, **call.params)
        pairs = zip(out, tangent, strict=True) if primitive.multiple_results else [(out, tangent)]
        for one, its_tangent in pairs:
            yield from _tangent_type(primitive, one, its_tangent, given)
    yield from _cotangent_types(trial, call)


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_traced_rules(trial: Trial) -> Claims:
    """The derivative rules of a primitive do at values what they do at types: they are run once for all values.

    Equation: jvp(f, x, v) = linearize(f, x)[1](v) = jvp_rule(x, v) for each set of tangents that are not zero

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_traced_rules(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    call, args = _call_of(trial), trial.args
    primitive = call.primitive
    for given, mixed in _tangents(trial):
        if not given:
            continue
        out, tangent = primitive.rule("jvp")(list(args), mixed, **call.params)
        outs, by_rule = (list(out), tangent) if primitive.multiple_results else ([out], [tangent])

        def function(*xs: Any, given: list[int] = given) -> list[Any]:
            found = call(*[xs[given.index(i)] if i in given else x for i, x in enumerate(args)])
            return list(found) if primitive.multiple_results else [found]

        expected = [outs, [*map(instantiate_zeros, by_rule)]]
        xs, vs = tuple([args[i] for i in given]), tuple([mixed[i] for i in given])
        yield Claim(f"jvp along arguments {given}", [*jvp(function, xs, vs)], "its jvp rule", expected)
        linearized, f_jvp = linearize(function, *xs)
        yield Claim(f"linearize along arguments {given}", [linearized, f_jvp(*vs)], "its jvp rule", expected)


def _tangents(trial: Trial) -> Iterator[tuple[list[int], list[Any]]]:
    """Yields each set of floating-point arguments, with tangents for these and symbolic zeros for the others."""
    args = trial.args
    tangents = [normal(trial.random, get_aval(x)) for x in args]
    floating = [i for i, x in enumerate(args) if is_inexact(get_aval(x).dtype)]
    for chosen in product((True, False), repeat=len(floating)):
        given = [i for i, is_given in zip(floating, chosen, strict=True) if is_given]
        yield given, [t if i in given else Zero(get_aval(t)) for i, t in enumerate(tangents)]


def _tangent_type(primitive: Primitive, out: Any, tangent: Any, given: list[int]) -> Claims:
    expected = get_aval(out).to_tangent_aval()
    got = tangent.aval if type(tangent) is Zero else get_aval(tangent)
    if not _agree_up_to_weakness(got, expected):
        yield Fault(
            f"its jvp rule gives a tangent {got} of a result {get_aval(out)}, with tangents of {given}: shape and "
            f"dtype must be those of {expected}, a weak tangent (~) or a strong one"
        )
    if not given and type(tangent) is not Zero:
        if primitive.declaration is not None:
            yield Fault("its jvp rule gives a tangent that is not a symbolic zero, of tangents that all are")
        yield Claim("its tangent, of tangents that are all symbolic zeros", tangent, "0", zeros(expected), "nothing")


def _cotangent_types(trial: Trial, call: PrimitiveCall) -> Claims:
    primitive, args = call.primitive, call.args
    if primitive.declaration is None or primitive.multiple_results:
        return
    out = get_aval(call(*args)).to_tangent_aval()
    if not is_inexact(out.dtype):
        return
    for group in linear_groups(primitive.declaration.linear, len(args)):
        if all(is_inexact(get_aval(args[i]).dtype) for i in group):
            operands = [UndefinedPrimal(get_aval(x)) if i in group else x for i, x in enumerate(args)]
            found = primitive.rule("transpose")(normal(trial.random, out), *operands, **call.params)
            for i in group:
                got = found[i].aval if type(found[i]) is Zero else get_aval(found[i])
                if not _agree_up_to_weakness(got, get_aval(args[i])):
                    yield Fault(
                        f"its transpose rule gives a cotangent {got} of argument {i}, {get_aval(args[i])}: shape and "
                        "dtype must be those of the argument, a weak cotangent (~) or a strong one"
                    )


def _agree_up_to_weakness(one: ShapedArray, other: ShapedArray) -> bool:
    return one.update(weak_type=False) == other.update(weak_type=False)


def linear_in(call: PrimitiveCall, args: tuple[Any, ...], group: tuple[int, ...]) -> Callable[..., Any]:
    """Returns a call as a function of a set of arguments in which it is jointly linear, the others held fixed."""
    assert call.primitive.declaration is not None
    together = next(whole for whole in call.primitive.declaration.linear if set(group) <= set(whole))

    def linear(*xs: Any) -> Any:
        full = list(args)
        for i, x in zip(group, xs, strict=True):
            full[i] = x
        # The other operands of its joint linearity are zero, otherwise the function would be affine.
        for i in set(together) - set(group):
            if i < len(full):
                full[i] = np.zeros_like(full[i])
        return call(*full)

    return linear


def linear_groups(linear: tuple[tuple[int, ...], ...], count: int) -> Iterator[tuple[int, ...]]:
    """Yields sets of arguments in which a primitive is jointly linear, and each of their members alone."""
    seen = set()
    for group in linear:
        present = tuple(i for i in group if i < count)
        for chosen in (present, *((i,) for i in present)):
            if chosen and chosen not in seen:
                seen.add(chosen)
                yield chosen


@law("primitives", needs=("jaxprs",), subject="primitive")
def law_primitive_algebra(trial: Trial) -> Claims:
    """A primitive has the algebra that it declares: it commutes, associates, has a unit.

    Equation: f(x, y) = f(y, x), f(f(x, y), z) = f(x, f(y, z)), f(x, unit) = x

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_algebra(lawful, draw_call(ops.add_p, RandomChoose(1)))
    """
    call, args = _call_of(trial), trial.args
    declaration = call.primitive.declaration
    if declaration is None or not (declaration.commutes or declaration.associates or declaration.unit is not None):
        raise Inapplicable(f"law: expected a declaration of algebra, got none of {call.primitive!r}")
    if declaration.commutes:
        x, y = args
        yield Claim("f(x, y)", call(x, y), "f(y, x)", call(y, x))
    if declaration.associates:
        x, y = args
        z = np.roll(np.asarray(x), 1)
        yield Claim("f(f(x, y), z)", call(call(x, y), z), "f(x, f(y, z))", call(x, call(y, z)))
    if declaration.unit is not None:
        x = args[0]
        yield Claim("f(x, unit)", call(x, np.full_like(x, declaration.unit)), "x", np.asarray(x))
