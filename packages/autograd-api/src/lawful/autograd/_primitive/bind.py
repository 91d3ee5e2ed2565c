"""The lawful primitives under users' primitives: ``autograd_call``, and ``autograd_linear``, its derivative.

The function of a call is evaluated on values. In reverse mode the user's rule runs with the call, under the enclosing
transformation, and what it returns runs in the backward pass. So rules may be differentiated, and run every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import vjp, zero_tangent
from lawful.autograd._primitive.call import Call, Function, fitted
from lawful.batching import vmap
from lawful.core import (
    ArgumentValueError,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    avals_of,
    get_aval,
    instantiate_zeros,
    is_inexact,
    zeros,
)
from lawful.staging import kept

autograd_call_p = Primitive("autograd_call", multiple_results=True)
autograd_linear_p = Primitive("autograd_linear", multiple_results=True)

_EAGER = "a user's primitive computes with NumPy arrays; call it outside of jit, or write it in functions of lawful"
autograd_call_p.declare_absent("abstract_eval", _EAGER)
autograd_call_p.declare_absent("lowering", _EAGER)
autograd_call_p.declare_absent("transpose", "it is not linear: autograd_linear is its derivative")
autograd_linear_p.declare_absent("lowering", _EAGER)


class Linear:
    """The derivative of a call at a point: a linear map from tangents of operands to those of inexact results.

    Args:
      call: the call.
      primals: its operands.
      nonzeros: which of these have tangents.
      outs: the leaves of its result.
      reverse: whether the rule of reverse mode runs, if there is one.
      pull_back: what that rule has returned, if it has run.

    Attributes:
      in_avals: the types of the tangents.
      out_avals: the types of the results' tangents, as far as these are inexact.
    """

    def __init__(
        self,
        call: Call,
        primals: Sequence[Any],
        nonzeros: Sequence[bool],
        outs: Sequence[Any],
        *,
        reverse: bool,
        pull_back: Function | None = None,
    ) -> None:
        self.call = call
        self._nonzeros = nonzeros
        self._all_out_avals = avals_of(outs)
        self.out_avals = [aval.to_tangent_aval() for aval in self._all_out_avals if is_inexact(aval.dtype)]
        self._operand_avals = [aval.to_tangent_aval() for aval in avals_of(primals)]
        self.in_avals = kept(self._operand_avals, nonzeros)
        self._chosen = call.chosen(nonzeros)
        self._argnums = tuple([hole.argnum for hole in self._chosen])
        self._ans = call.result(outs)
        self._args = call.arguments(primals)
        self._vjp = pull_back
        rules = call.rules
        if pull_back is not None:
            pass
        elif rules.pullback is not None and (reverse or rules.pushforward is None):
            self._vjp = rules.pullback(self._argnums, self._ans, self._args, call.kwargs)
        elif rules.pushforward is None:
            raise rules.missing("VJP" if reverse else "JVP", self._argnums)

    def pull_back(self, cts: Sequence[Any]) -> list[Any]:
        """Returns the cotangents of the operands with tangents, from those of the inexact results; None for zero."""
        if self._vjp is None:
            return _transposed(self.push_forward, self.in_avals, cts)
        given = iter(cts)
        full = [
            _as_numpy(next(given)) if is_inexact(aval.dtype) else numpy.zeros(aval.shape)
            for aval in self._all_out_avals
        ]
        derivatives = self._vjp(self.call.result(full))
        found = self.call.cotangents(self._chosen, [densified(ct) for ct in derivatives])
        found = kept(found, self._nonzeros)
        name = f"VJP of {self.call.rules.name}"
        return [None if ct is None else fitted(name, ct, aval) for ct, aval in zip(found, self.in_avals, strict=True)]

    def push_forward(self, tangents: Sequence[Any]) -> list[Any]:
        """Returns the tangents of the inexact results from those that the operands have."""
        rules = self.call.rules
        if rules.pushforward is not None:
            given = iter(tangents)
            full = [
                next(given) if nonzero else Zero(aval)
                for aval, nonzero in zip(self._operand_avals, self._nonzeros, strict=True)
            ]
            gs = self.call.tangents(full)
            tangent = rules.pushforward(self._argnums, gs, self._ans, self._args, self.call.kwargs)
            if tangent is None:
                return [zeros(aval) for aval in self.out_avals]
            leaves = self.call.tangent_leaves(densified(tangent))
            inexact = [t for t, aval in zip(leaves, self._all_out_avals, strict=True) if is_inexact(aval.dtype)]
            name = f"JVP of {rules.name}"
            return [fitted(name, t, aval) for t, aval in zip(inexact, self.out_avals, strict=True)]

        def pull(cts: Sequence[Any]) -> list[Any]:
            found = self.pull_back(cts)
            return [zeros(aval) if ct is None else ct for ct, aval in zip(found, self.in_avals, strict=True)]

        return _transposed(pull, self.out_avals, tangents)


def _transposed(
    function: Callable[[Sequence[Any]], list[Any]], avals: Sequence[ShapedArray], cts: Sequence[Any]
) -> list[Any]:
    """Returns what the transpose of a linear function of lists gives: the pullback of its derivative, at zero.

    Args:
      function: the function.
      avals: the types of its arguments.
      cts: the arguments of the transpose.
    """
    _, transpose = vjp(function, [zeros(aval) for aval in avals])
    (found,) = transpose(list(cts))
    return [*found]


def _as_numpy(x: Any) -> Any:
    """Returns a cotangent as a rule takes it: Python's numbers have neither a shape nor a dtype."""
    return numpy.float64(x) if type(x) is float else numpy.complex128(x) if type(x) is complex else x


class SparseObject:
    """A derivative that is added to an array in place: a rule may return one instead of an array of mostly zeros.

    Args:
      vs: the vector space of the array.
      mut_add: ``mut_add(x)`` returns an array of the space with the derivative added; it may write into ``x``.

    >>> import numpy
    >>> from lawful.autograd.extend import vspace
    >>> def add_to_first(x):
    ...     x[0] += 5.0
    ...     return x
    >>> densified(SparseObject(vspace(numpy.ones(3)), add_to_first))
    array([5., 0., 0.])
    """

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: Any, mut_add: Callable[[Any], Any]) -> None:
        self.vs = vs
        self.mut_add = mut_add


def densified(x: Any) -> Any:
    """Returns a `SparseObject` as an array, and anything else as it is."""
    return x.mut_add(x.vs.zeros()) if type(x) is SparseObject else x


# The call


@autograd_call_p.def_impl
def _evaluate(*operands: Any, call: Call) -> list[Any]:
    return call.evaluate(operands)


def _linearize(
    nonzeros: Sequence[bool], *primals: Any, call: Call
) -> tuple[list[Any], list[bool], Callable[..., list[Any]]]:
    outs, call.evaluated = call.evaluated, None
    if outs is None:
        outs = autograd_call_p.bind(*primals, call=call)
    inexact = [is_inexact(aval.dtype) for aval in avals_of(outs)]
    if not any(inexact):
        return outs, inexact, lambda *tangents: []
    linear = Linear(call, primals, nonzeros, outs, reverse=True)
    return outs, inexact, lambda *tangents: autograd_linear_p.bind(*tangents, linear=linear)


autograd_call_p.def_linearize(_linearize)


@autograd_call_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[list[Any], list[Any]]:
    outs = autograd_call_p.bind(*primals, call=call)
    nonzeros = [type(t) is not Zero for t in tangents]
    if not any([is_inexact(aval.dtype) for aval in avals_of(outs)]):
        return outs, [zero_tangent(x) for x in outs]
    linear = Linear(call, primals, nonzeros, outs, reverse=False)
    given = iter(linear.push_forward([t for t in tangents if type(t) is not Zero]))
    return outs, [next(given) if is_inexact(get_aval(x).dtype) else zero_tangent(x) for x in outs]


@autograd_call_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, call: Call
) -> tuple[list[Any], list[int | None]]:
    if not axis_data.size:
        raise ArgumentValueError(
            f"vmap: expected at least one element for the primitive {call.rules.name}, got none; the function itself "
            "decides the types of its results"
        )
    in_front = [x if dim is None else np.moveaxis(x, dim, 0) for x, dim in zip(args, dims, strict=True)]
    rows = [
        autograd_call_p.bind(*[x if dim is None else x[i] for x, dim in zip(in_front, dims, strict=True)], call=call)
        for i in range(axis_data.size)
    ]
    outs = [np.stack(column) for column in zip(*rows, strict=True)]
    return outs, [0] * len(outs)


# Its derivative


@autograd_linear_p.def_impl
def _push(*tangents: Any, linear: Linear) -> list[Any]:
    return linear.push_forward(tangents)


@autograd_linear_p.def_abstract_eval
def _type(*avals: ShapedArray, linear: Linear) -> list[ShapedArray]:
    return linear.out_avals


@autograd_linear_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any, linear: Linear) -> list[Any]:
    found = linear.pull_back([instantiate_zeros(ct) for ct in cts])
    return [
        None if not isinstance(x, UndefinedPrimal) else Zero(aval) if ct is None else ct
        for x, ct, aval in zip(args, found, linear.in_avals, strict=True)
    ]


@autograd_linear_p.def_jvp
def _jvp_of_linear(primals: Sequence[Any], tangents: Sequence[Any], *, linear: Linear) -> tuple[list[Any], list[Any]]:
    return (
        autograd_linear_p.bind(*primals, linear=linear),
        autograd_linear_p.bind(*map(instantiate_zeros, tangents), linear=linear),
    )


@autograd_linear_p.def_batch
def _batch_linear(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, linear: Linear
) -> tuple[list[Any], list[int | None]]:
    mapped = vmap(lambda *tangents: linear.push_forward(tangents), in_axes=tuple(dims), axis_size=axis_data.size)
    outs = mapped(*args)
    return [*outs], [0] * len(outs)
