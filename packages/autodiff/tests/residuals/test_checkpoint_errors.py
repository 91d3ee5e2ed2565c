"""Errors of ``checkpoint``."""

import numpy as np
import pytest

from lawful.autodiff import checkpoint, checkpoint_name, checkpoint_p, checkpoint_policies, grad
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ConcretizationTypeError,
    MissingRuleError,
    NonArrayError,
    Primitive,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from lawful.ops import sin
from lawful.staging import jit, make_jaxpr


def test_checkpoint_condition_on_values_says_what_to_do():
    @checkpoint
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(TracerBoolConversionError) as caught:
        f(1.0)
    text = str(caught.value)
    assert "test_checkpoint_errors.py" in text
    assert "static_argnums of checkpoint" in text
    assert "static_argnums of jit" not in text
    assert "checkpoint traces its function, also outside of jit" in text
    with pytest.raises(TracerBoolConversionError, match="static_argnums of checkpoint"):
        grad(f)(1.0)


def test_checkpoint_other_uses_of_values_say_what_to_do():
    with pytest.raises(TracerIntegerConversionError, match="static_argnums of checkpoint"):
        checkpoint(lambda n: sum(range(n)))(3)
    with pytest.raises(ConcretizationTypeError, match="static_argnums of checkpoint"):
        checkpoint(lambda x: float(x))(3.0)


def test_checkpoint_condition_on_enclosing_tracer():
    """The error of a condition on a tracer names the transformation that made the tracer, not checkpoint."""

    @jit
    def f(x):
        positive = x > 0
        return checkpoint(lambda y: y if positive else -y)(x)

    with pytest.raises(TracerBoolConversionError, match="static_argnums of jit") as caught:
        f(1.0)
    assert "checkpoint traces" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"prevent_cse": (True, 1)}, "expected True, False or a tree of them as prevent_cse, got (True, 1)"),
        ({"policy": "dots_saveable"}, "expected a policy, got 'dots_saveable' of type str; give one of"),
        ({"policy": checkpoint_policies.save_only_these_names}, "expected a policy, got <function save_only"),
        ({"policy": checkpoint_policies.offload_dot_with_no_batch_dims}, "expected a policy, got <function offload"),
    ],
)
def test_checkpoint_options_of_other_types_are_refused(options, text):
    with pytest.raises(ArgumentTypeError) as caught:
        checkpoint(sin, **options)
    assert text in str(caught.value)


def test_checkpoint_refuses_non_functions():
    with pytest.raises(ArgumentTypeError, match=r"checkpoint: expected a function, got 1\.0"):
        checkpoint(1.0)


def test_checkpoint_refuses_non_arrays():
    with pytest.raises(NonArrayError, match="checkpoint of f: expected arrays or numbers as arguments, got 'a'"):
        checkpoint(named_f)("a")
    with pytest.raises(NonArrayError, match="checkpoint of <lambda>: expected a function that returns arrays"):
        checkpoint(lambda x: "a")(1.0)


def named_f(x):
    return x


named_f.__name__ = "f"


def test_checkpoint_static_arguments_are_checked():
    with pytest.raises(ArgumentValueError, match="expected positions of the 1 positional arguments of f, got 1"):
        checkpoint(named_f, static_argnums=1)


def test_checkpoint_static_arguments_need_no_hash():
    """Each call is traced, and static arguments are part of no key."""
    f = checkpoint(lambda settings, x: x * settings["factor"], static_argnums=0)
    assert grad(f, argnums=1)({"factor": 3.0}, 2.0) == 3.0


def test_checkpoint_policy_has_to_decide():
    f = checkpoint(sin, policy=lambda primitive, *_, **__: "save")
    x = np.float64(0.0)
    assert f(x) == 0.0
    with pytest.raises(
        ArgumentTypeError, match="expected a policy that returns True or False, got 'save' of type str for sin"
    ):
        grad(f)(x)


def test_checkpoint_names_are_strings():
    with pytest.raises(ArgumentTypeError, match="checkpoint_name: expected a string as name, got 1 of type int"):
        checkpoint_name(1.0, 1)
    with pytest.raises(NonArrayError, match="expected arrays or numbers to name 'h', got 'x' of type str"):
        checkpoint_name({"a": "x"}, "h")
    with pytest.raises(ArgumentTypeError, match="save_only_these_names: expected names as strings, got"):
        checkpoint_policies.save_only_these_names(["a", "b"])
    with pytest.raises(ArgumentTypeError, match="save_from_both_policies: expected a policy, got None"):
        checkpoint_policies.save_from_both_policies(checkpoint_policies.dots_saveable, None)


def test_checkpoint_tracer_that_is_kept_is_refused():
    kept = []
    checkpoint(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(UnexpectedTracerError, match="of checkpoint made at"):
        sin(kept[0])


def test_checkpoint_missing_rule_inside_names_itself():
    primitive = Primitive("without_rules")
    primitive.def_abstract_eval(lambda x: x)
    with pytest.raises(MissingRuleError, match=r"define it with without_rules_p\.def_jvp"):
        grad(checkpoint(lambda x: primitive.bind(x)))(1.0)


def test_checkpoint_primitive_is_strict():
    jaxpr = make_jaxpr(sin)(np.ones(3))
    with pytest.raises(ArgumentTypeError, match=r"checkpoint_p: expected arguments of types f64\[3\], got f64\[2\]"):
        make_jaxpr(lambda x: checkpoint_p.bind(x, jaxpr=jaxpr, prevent_cse=True, differentiated=False, policy=None))(
            np.ones(2)
        )


@pytest.mark.parametrize("names", ["ab", None, [1]])
def test_checkpoint_names_to_offload_are_lists_of_strings(names):
    with pytest.raises(ArgumentTypeError, match="save_and_offload_only_these_names: expected"):
        checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=names, offload_src="device", offload_dst="host"
        )
