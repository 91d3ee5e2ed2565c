"""Policies of ``checkpoint``: which intermediate values are kept for the backward pass, and not computed again.

A policy is a function ``policy(primitive, *avals, **params)`` of an equation, which says whether its results may be
kept. Those here can be compared, and print in jaxprs by name.

>>> import numpy as np
>>> from lawful.autodiff import checkpoint, checkpoint_policies, print_saved_residuals
>>> from lawful.ops import dot, sin
>>> f = checkpoint(lambda w, x: sin(dot(w, x)), policy=checkpoint_policies.dots_saveable)
>>> print_saved_residuals(f, np.ones((2, 3)), np.ones(3))
f64[2,3]: the argument w
f64[3]: the argument x
f64[2]: output of dot_general at ...

Source: ``jax.checkpoint_policies``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from lawful import ops
from lawful.autodiff._checkpoint_name import name_p
from lawful.core import ArgumentTypeError, Primitive, ShapedArray, record, shorten
from lawful.ops import dot_general_p

__all__ = [
    "Policy",
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "offload_dot_with_no_batch_dims",
    "save_and_offload_only_these_names",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]


@record
class Policy:
    """A policy by its name, and the names of values or the policies that it is made of.

    >>> everything_saveable, nothing_saveable, checkpoint_dots, checkpoint_dots_with_no_batch_dims
    (everything_saveable, nothing_saveable, dots_saveable, dots_with_no_batch_dims_saveable)
    >>> dots_saveable(ops.sin_p), everything_saveable(ops.sin_p)
    (False, True)
    """

    name: str
    args: tuple[Any, ...] = ()

    def __call__(self, primitive: Primitive, *avals: ShapedArray, **params: Any) -> bool:
        return self.allows(primitive, avals, params, ())

    def allows(
        self, primitive: Primitive, avals: tuple[ShapedArray, ...], params: dict[str, Any], names: Collection[str]
    ) -> bool:
        """Returns whether the results of an equation may be kept.

        Args:
          primitive: the primitive of the equation.
          avals: the types of its operands.
          params: its parameters.
          names: the names that ``checkpoint_name`` gives to its results.
        """
        if self.name == "save_from_both_policies":
            return any([is_allowed(from_param(part), primitive, avals, params, names) for part in self.args])
        return _RULES[self.name](self.args, primitive, params, names)

    def __repr__(self) -> str:
        if not self.args:
            return self.name
        parts = self.args if self.name != "save_from_both_policies" else map(from_param, self.args)
        return f"{self.name}({', '.join(map(repr, parts))})"


AnyPolicy = Callable[..., bool]


def as_param(policy: AnyPolicy | None) -> Any:
    """Returns a policy as a parameter of an equation: one of this module by name, which can be printed and parsed."""
    if not isinstance(policy, Policy):
        return policy
    return (policy.name, *policy.args) if policy.args else policy.name


def from_param(param: Any) -> AnyPolicy:
    """Returns the policy that a parameter of an equation stands for."""
    if param is None:
        return nothing_saveable
    if isinstance(param, str):
        return Policy(param)
    policy: AnyPolicy = Policy(param[0], tuple(param[1:])) if isinstance(param, tuple) else param
    return policy


def is_allowed(
    policy: AnyPolicy, primitive: Primitive, avals: tuple[ShapedArray, ...], params: dict[str, Any],
    names: Collection[str],
) -> bool:  # fmt: skip
    """Returns what a policy, which may be the user's own, says of an equation.

    Raises:
      ArgumentTypeError: it does not say True or False.
    """
    if isinstance(policy, Policy):
        return policy.allows(primitive, avals, params, names)
    answer = policy(primitive, *avals, **params)
    if not isinstance(answer, bool):
        raise ArgumentTypeError(
            f"checkpoint: expected a policy that returns True or False, got {shorten(answer)} of type "
            f"{type(answer).__name__} for {primitive.name}; return whether its results may be kept"
        )
    return answer


def _is_dot(args: Any, primitive: Primitive, params: dict[str, Any], names: Collection[str]) -> bool:
    if primitive.name == "conv_general_dilated":  # convolutions are a lazy import
        return primitive is ops.conv_general_dilated_p
    return primitive is dot_general_p


def _is_dot_without_batch(args: Any, primitive: Primitive, params: dict[str, Any], names: Collection[str]) -> bool:
    return primitive is dot_general_p and not any(params["dimension_numbers"][1])


def _is_named(args: Any, primitive: Primitive, params: dict[str, Any], names: Collection[str]) -> bool:
    return primitive is name_p and params["name"] in args


def _is_otherwise_named(args: Any, primitive: Primitive, params: dict[str, Any], names: Collection[str]) -> bool:
    return primitive is name_p and params["name"] not in args


def _is_not_named(args: Any, primitive: Primitive, params: dict[str, Any], names: Collection[str]) -> bool:
    # A value is the same before it is named: neither is kept.
    given = (*names, params["name"]) if primitive is name_p else names
    return not any([name in args for name in given])


_RULES: Final[dict[str, Callable[..., bool]]] = {
    "everything_saveable": lambda *_: True,
    "nothing_saveable": lambda *_: False,
    "dots_saveable": _is_dot,
    "dots_with_no_batch_dims_saveable": _is_dot_without_batch,
    "save_only_these_names": _is_named,
    "save_any_names_but_these": _is_otherwise_named,
    "save_anything_except_these_names": _is_not_named,
}

#: Every value may be kept, as without ``checkpoint``.
everything_saveable = Policy("everything_saveable")
#: No value is kept but the arguments: what ``checkpoint`` does where no policy is given.
nothing_saveable = Policy("nothing_saveable")
#: Products of matrices and convolutions are kept, which cost the most to compute again.
dots_saveable = checkpoint_dots = Policy("dots_saveable")
#: Products of matrices are kept, unless they have batch dimensions.
dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = Policy("dots_with_no_batch_dims_saveable")


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Returns the policy that values with one of these names are kept, and nothing else.

    >>> save_only_these_names("h")
    save_only_these_names('h')
    """
    return Policy("save_only_these_names", _names("save_only_these_names", names_which_can_be_saved))


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Returns the policy that values with a name are kept, but not these.

    >>> policy = save_any_names_but_these("h")
    >>> policy(name_p, name="h"), policy(name_p, name="g"), policy(ops.sin_p)
    (False, True, False)
    """
    return Policy("save_any_names_but_these", _names("save_any_names_but_these", names_not_to_save))


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Returns the policy that all values are kept, but not those with one of these names.

    What is named is not kept either under its operation: in JAX 0.12 the names are not looked at.

    >>> policy = save_anything_except_these_names("h")
    >>> policy(name_p, name="h"), policy(name_p, name="g"), policy(ops.sin_p)
    (False, True, True)
    """
    return Policy("save_anything_except_these_names", _names("save_anything_except_these_names", names_not_to_save))


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Returns the policy that values with one of these names are kept, and nothing else.

    Programs run in one memory, so that values to offload are kept as the others are, where they are.

    Args:
      names_which_can_be_saved: names of ``checkpoint_name``.
      names_which_can_be_offloaded: the same.
      offload_src: the memory of the values, in JAX; it is not looked at.
      offload_dst: the memory to copy them to, in JAX; it is not looked at.

    >>> save_and_offload_only_these_names(
    ...     names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"], offload_src="device", offload_dst="host"
    ... )
    save_only_these_names('a', 'b')
    """
    where = "save_and_offload_only_these_names"
    for names in (names_which_can_be_saved, names_which_can_be_offloaded):
        if not isinstance(names, list | tuple):
            raise ArgumentTypeError(f"{where}: expected lists of names, got {shorten(names)}; give ['a', 'b']")
    names = _names(where, (*names_which_can_be_saved, *names_which_can_be_offloaded))
    return Policy("save_only_these_names", names)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Returns `dots_with_no_batch_dims_saveable`: programs run in one memory, so that nothing is copied to another.

    Args:
      offload_src: the memory of the values, in JAX; it is not looked at.
      offload_dst: the memory to copy them to, in JAX; it is not looked at.

    >>> offload_dot_with_no_batch_dims("device", "pinned_host")
    dots_with_no_batch_dims_saveable
    """
    return dots_with_no_batch_dims_saveable


def save_from_both_policies(policy_1: AnyPolicy, policy_2: AnyPolicy) -> AnyPolicy:
    """Returns the policy that all values are kept which one of two policies keeps.

    >>> save_from_both_policies(dots_saveable, save_only_these_names("h"))
    save_from_both_policies(dots_saveable, save_only_these_names('h'))
    """
    for policy in (policy_1, policy_2):
        require_policy("save_from_both_policies", policy)
    for one, other in ((policy_1, policy_2), (policy_2, policy_1)):
        if one in (other, everything_saveable) or other == nothing_saveable:
            return one
    return Policy("save_from_both_policies", (as_param(policy_1), as_param(policy_2)))


def require_policy(where: str, policy: Any) -> None:
    """Raises ArgumentTypeError if something is not a policy."""
    makers = (
        *(save_only_these_names, save_any_names_but_these, save_anything_except_these_names, save_from_both_policies),
        *(save_and_offload_only_these_names, offload_dot_with_no_batch_dims),
    )
    if not callable(policy) or policy in makers:
        raise ArgumentTypeError(
            f"{where}: expected a policy, got {shorten(policy)} of type {type(policy).__name__}; give one of "
            "lawful.autodiff.checkpoint_policies, such as dots_saveable or save_only_these_names('h'), or a function "
            "of a primitive, avals and params"
        )


def _names(where: str, names: tuple[Any, ...]) -> tuple[str, ...]:
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"{where}: expected names as strings, got {shorten(name)} of type {type(name).__name__}; give those of "
                f"checkpoint_name, one by one: {where}('a', 'b')"
            )
    return names
