"""`pytest --laws=thorough`, the fixtures, and the table at the end of a run, each in a run of pytest of its own."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

pytest_plugins = "pytester"

A_TEST = """
    import numpy as np
    import pytest
    from lawful import ops
    from lawful.laws import Case, LawViolation, law_jvp_linear
    from lawful.laws.systems import lawful

    def test_a_law():
        law_jvp_linear(lawful, Case.of(ops.sin, 0.5))

    @pytest.mark.parametrize("x", [1.0, 2.0])
    def test_another(x):
        law_jvp_linear(lawful, Case.of(lambda y: ops.mul(y, y), np.array([x])))
"""

AN_EFFORT = """
    import hypothesis
    from lawful.laws import default_effort

    def test_effort(laws_effort):
        print("effort", laws_effort.name, default_effort().name, hypothesis.settings().max_examples)
"""

A_FAULT = """
    import numpy as np
    from lawful import ops
    from lawful.core import Primitive, ShapedArray

    double_p = Primitive("double")
    double_p.def_impl(lambda x: np.add(x, x))
    double_p.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    double_p.def_jvp(lambda primals, tangents: (double_p.bind(*primals), tangents[0]))
    double_p.def_batch(lambda args, dims: (double_p.bind(*args), dims[0]))
    double_p.declare_absent("lowering", "NumPy only")

    def test_mine(check_laws):
        check_laws(double_p, np.array([0.5, 2.0]))

    def test_function(check_laws):
        assert check_laws(ops.sin, np.array([0.5]), laws=["jvp_linear"]).ok
"""


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)


def test_pytest_plugin_table_counts_what_laws_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(A_TEST)
    result = run(pytester)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["*= laws =*", "law*passed*failed*not applicable*cases", "jvp_linear *3 *0 *0 *3"], consecutive=True
    )


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_pytest_plugin_table_adds_up_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(A_TEST)
    result = run(pytester, "-n", "2")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*= laws =*", "jvp_linear *3 *0 *0 *3"])


def test_pytest_plugin_without_laws_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_imported():
            ours = [name for name in sys.modules if name.startswith("lawful.") and name != "lawful.laws_pytest"]
            assert not ours
            assert "numpy" not in sys.modules
            assert "hypothesis" not in sys.modules
        """
    )
    # Hypothesis has a plugin of its own, which may import it.
    result = run(pytester, "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    assert "= laws =" not in result.stdout.str()


def test_pytest_plugin_can_be_imported_without_pytest() -> None:
    program = "import sys; sys.modules['pytest'] = None; import lawful.laws_pytest"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [((), "usual usual"), (("--laws=quick",), "quick quick 25"), (("--laws=thorough",), "thorough thorough 5000")],
)
def test_pytest_plugin_option_sets_effort_and_examples(
    pytester: pytest.Pytester, options: tuple[str, ...], expected: str
) -> None:
    pytester.makepyfile(AN_EFFORT)
    run(pytester, "-s", *options).stdout.fnmatch_lines([f"*effort {expected}*"])


def test_pytest_plugin_chosen_hypothesis_profile_stays(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import hypothesis; hypothesis.settings.register_profile('mine', max_examples=7)")
    pytester.makepyfile(AN_EFFORT)
    result = run(pytester, "-s", "--laws=quick", "--hypothesis-profile=mine")
    result.stdout.fnmatch_lines(["*effort quick quick 7*"])


def test_pytest_plugin_another_word_is_refused(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--laws=hard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--laws*invalid choice: 'hard'*"])


def test_pytest_plugin_fixture_fails_with_the_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(A_FAULT)
    result = run(pytester, "--laws=quick")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*LawViolation: *check: expected all laws to hold*", "*double_p.bind(*", "*= laws =*"])
