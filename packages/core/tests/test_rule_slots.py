"""A primitive has one slot a transformation, and says which call defines the rule that is missing."""

import pickle
import re
from typing import Any

import numpy as np
import pytest

from lawful.core import LawfulError, MissingRuleError, Primitive, ShapedArray, current, eval_trace, primitives_by_name

# The exact texts of DESIGN §2, one a slot.
MISSING = {
    "impl": "Evaluation rule for 'multiply_add' not implemented; define it with multiply_add_p.def_impl",
    "abstract_eval": (
        "Abstract evaluation rule for 'multiply_add' not implemented; define it with multiply_add_p.def_abstract_eval"
    ),
    "jvp": "JVP rule for 'multiply_add' not implemented; define it with multiply_add_p.def_jvp",
    "transpose": "Transpose rule for 'multiply_add' not implemented; define it with multiply_add_p.def_transpose",
    "batch": "Batching rule for 'multiply_add' not implemented; define it with multiply_add_p.def_batch",
    "lowering": "Lowering rule for 'multiply_add' not implemented; define it with multiply_add_p.def_lowering",
    "linearize": "Linearization rule for 'multiply_add' not implemented; define it with multiply_add_p.def_linearize",
    "partial_eval": (
        "Partial evaluation rule for 'multiply_add' not implemented; define it with multiply_add_p.def_partial_eval"
    ),
}


@pytest.mark.parametrize("slot", MISSING)
def test_missing_rule_error_text(slot: str) -> None:
    """The error names the primitive, the transformation and the call that defines the rule."""
    with pytest.raises(NotImplementedError) as caught:
        Primitive("multiply_add").rule(slot)
    assert isinstance(caught.value, MissingRuleError)
    assert isinstance(caught.value, LawfulError)
    # After the user's line, which is this file's, comes exactly the text.
    assert re.fullmatch(rf"{re.escape(__file__)}:\d+ \(\w+\): {re.escape(MISSING[slot])}", str(caught.value))


@pytest.mark.parametrize("slot", MISSING)
def test_the_call_that_the_error_names_exists_and_fills_the_slot(slot: str) -> None:
    primitive = Primitive("multiply_add")
    name = MISSING[slot].rpartition("multiply_add_p.")[2]

    def rule(*args: Any, **params: Any) -> Any:
        return args

    assert getattr(primitive, name)(rule) is rule, "so that it can be used as a decorator"
    assert primitive.rule(slot) is rule


def test_an_absent_rule_gives_its_reason() -> None:
    primitive = Primitive("multiply_add")
    primitive.declare_absent("transpose", "it is not linear in x and y together")
    with pytest.raises(MissingRuleError, match=r"Transpose rule for 'multiply_add' does not exist: it is not linear"):
        primitive.rule("transpose")


def test_slots_are_an_open_set() -> None:
    primitive = Primitive("multiply_add")
    with pytest.raises(
        MissingRuleError,
        match=re.escape(
            "interval rule for 'multiply_add' not implemented; define it with multiply_add_p.def_rule('interval', rule)"
        ),
    ):
        primitive.rule("interval")

    @primitive.def_rule_as("interval")
    def interval(x: Any) -> Any:
        return x, x

    assert primitive.rule("interval")(3) == (3, 3)
    primitive.def_rule("interval", lambda x: (x, x + 1))
    assert primitive.rule("interval")(3) == (3, 4), "a second definition replaces the first"


def test_evaluation_without_a_rule_raises_at_bind() -> None:
    with pytest.raises(MissingRuleError, match=re.escape(MISSING["impl"])):
        Primitive("multiply_add").bind(1.0, 2.0, 3.0)
    assert current.trace is eval_trace


def test_a_rule_of_a_platform_stands_before_the_general_one() -> None:
    primitive = Primitive("multiply_add")

    def on_gpu(ctx: Any) -> None: ...

    def anywhere(ctx: Any) -> None: ...

    primitive.def_lowering(on_gpu, platform="cuda")
    assert primitive.lowering_rule("cuda") is on_gpu
    only = (
        "Lowering rule for 'multiply_add' on the platform 'cpu' not implemented, only for cuda; run it there, or define"
    )
    with pytest.raises(MissingRuleError, match=only):
        primitive.lowering_rule("cpu")
    primitive.def_lowering(anywhere)
    assert primitive.lowering_rule("cpu") is anywhere
    assert primitive.lowering_rule("cuda") is on_gpu


def test_a_batching_rule_may_ask_for_the_axis() -> None:
    plain, asking = Primitive("coretest_plain"), Primitive("coretest_asking")
    plain.def_batch(lambda args, dims: None)
    asking.def_batch(lambda args, dims, *, axis_data: None)
    assert not plain.batch_takes_axis_data
    assert asking.batch_takes_axis_data
    asking.def_batch(lambda args, dims: None)
    assert not asking.batch_takes_axis_data, "the last rule counts"


def test_bind_gives_the_parameters_to_the_rule_by_name() -> None:
    primitive = Primitive("coretest_power")
    primitive.def_impl(lambda x, *, exponent: x**exponent)
    assert primitive.bind(3.0, exponent=2) == 9.0
    with pytest.raises(TypeError, match="exponent"):
        primitive.bind(3.0)


def test_primitive_rules_are_not_shared_by_name() -> None:
    """Two primitives of the same name have separate rules."""
    first, second = Primitive("coretest_twin"), Primitive("coretest_twin")
    first.def_impl(lambda x: x)
    with pytest.raises(MissingRuleError):
        second.bind(1.0)
    assert first.bind(1.0) == 1.0
    assert primitives_by_name["coretest_twin"] is second, "the parser finds the one made last"


def test_a_primitive_prints_as_the_name_it_is_bound_to_by_custom() -> None:
    assert repr(Primitive("multiply_add")) == "multiply_add_p"
    assert str(Primitive("multiply_add")) == "multiply_add"  # policies compare with it, as in JAX


def test_a_primitive_pickles_by_name() -> None:
    primitive = Primitive("coretest_pickled")
    assert pickle.loads(pickle.dumps(primitive)) is primitive


def test_primitive_multiple_results_are_a_list() -> None:
    primitive = Primitive("coretest_divmod", multiple_results=True)
    primitive.def_impl(lambda x, y: [x // y, x % y])
    assert primitive.bind(7, 2) == [3, 1]


def test_a_type_rule_refuses_ill_typed_input_with_its_own_error() -> None:
    primitive = Primitive("coretest_typed")

    @primitive.def_abstract_eval
    def typed(x: ShapedArray) -> ShapedArray:
        if x.shape:
            raise TypeError("scalars only")
        return x

    with pytest.raises(TypeError, match=r"^scalars only$"):
        primitive.rule("abstract_eval")(ShapedArray((2,), np.float64))
