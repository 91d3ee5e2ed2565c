"""`debug_nans`: an error for the first operation that gives a NaN."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from lawful import debug, ops
from lawful.core import ArgumentTypeError, NonFiniteError, eval_trace, is_plain
from lawful.debug import Blame, debug_nans, set_debug_nans
from lawful.staging import disable_jit, io_callback, jit

BACKENDS = ["numpy", None]


def test_debug_nans_eager_operation() -> None:
    with debug_nans(), pytest.raises(NonFiniteError, match=r"expected numbers, got NaN in a result of log") as caught:
        ops.log(np.array([1.0, -1.0]))
    blame = caught.value.blame
    assert isinstance(blame, Blame)
    assert (blame.primitive, blame.index, blame.operands[0][1]) == ("log", (1,), -1.0)
    assert isinstance(caught.value, FloatingPointError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_debug_nans_compiled_function(backend: str | None) -> None:
    function = jit(lambda x: ops.add(ops.sqrt(ops.sub(x, 2.0)), 1.0), backend=backend)
    assert np.isnan(function(1.0))  # traced and compiled before
    with debug_nans():
        assert function(3.0) == 2.0
        with pytest.raises(NonFiniteError, match=r"sqrt -1\.0 = nan") as caught:
            function(1.0)
    assert isinstance(caught.value.blame, Blame)
    assert caught.value.blame.within[0].startswith("jit of <lambda>")
    assert np.isnan(function(1.0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_debug_nans_beside_a_predicate_of_nan(backend: str | None) -> None:
    """The NaN that decided a Boolean result is not the one of the floating-point result."""
    function = jit(lambda x: (ops.gt(ops.log(x), 0.0), ops.sqrt(x)), backend=backend)
    with debug_nans(), pytest.raises(NonFiniteError, match=r"sqrt -1\.0 = nan"):
        function(-1.0)


def test_debug_nans_off_changes_nothing() -> None:
    call = type(jit(ops.log)).__call__
    before = type(eval_trace), eval_trace.evaluates_constants, call, is_plain()
    with debug_nans():
        assert type(eval_trace) is not before[0]
        with debug_nans(False), pytest.warns(RuntimeWarning, match="invalid"):
            assert np.isnan(ops.log(-1.0))
    assert (type(eval_trace), eval_trace.evaluates_constants, type(jit(ops.log)).__call__, is_plain()) == before


def test_debug_nans_infs() -> None:
    with debug_nans(), pytest.warns(RuntimeWarning, match="divide"):
        assert ops.log(np.zeros(1)) == -np.inf
    with debug_nans(infs=True), pytest.raises(NonFiniteError, match="finite numbers, got infinity"):
        jit(ops.log, backend="numpy")(np.zeros(1))


def test_debug_nans_decorates() -> None:
    @debug_nans()
    def root(x: float) -> object:
        return ops.sqrt(x)

    assert root(4.0) == 2.0
    with pytest.raises(NonFiniteError):
        root(-4.0)


def test_debug_nans_constant_is_no_error_until_chosen() -> None:
    with debug_nans():
        assert ops.select_n(np.array([False, False]), np.ones(2), ops.full((2,), np.nan)).tolist() == [1.0, 1.0]
        ops.broadcast_in_dim(np.nan, (2,), ())


def test_debug_nans_holds_in_other_threads() -> None:
    raised: list[Exception] = []

    def run() -> None:
        try:
            ops.sqrt(-1.0)
        except NonFiniteError as error:
            raised.append(error)

    with debug_nans():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(raised) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_debug_nans_calls_no_callback_again(backend: str | None) -> None:
    seen: list[float] = []

    @jit(backend=backend)
    def root(x: object) -> object:
        debug.callback(lambda x: seen.append(float(x)), x)
        return ops.sqrt(x)

    root_p = jit(lambda x: ops.sqrt(io_callback(lambda x: x, np.float64(0.0), x)), backend=backend)
    with debug_nans():
        with pytest.raises(NonFiniteError, match=r"sqrt -1\.0 = nan"):
            root(-1.0)
        assert seen == [-1.0]
        with pytest.raises(NonFiniteError, match=r"not evaluated again .*, because it calls io_callback"):
            root_p(-1.0)


def test_debug_nans_disable_jit_in_either_order() -> None:
    function = jit(lambda x: ops.log(x))
    with debug_nans(), disable_jit(), pytest.raises(NonFiniteError, match="in a result of log"):
        function(-1.0)
    with disable_jit(), debug_nans(), pytest.raises(NonFiniteError, match="in a result of log"):
        function(-1.0)
    with debug_nans(), pytest.raises(NonFiniteError, match="in a result of jit"):
        function(-1.0)


def test_debug_nans_donated_arguments_are_kept() -> None:
    function = jit(lambda x: ops.sqrt(ops.neg(x)), donate_argnums=0)
    with debug_nans(), pytest.raises(NonFiniteError, match=r"sqrt -1\.0 = nan"):
        function(np.ones(1))


def test_debug_nans_set_twice_counts_once() -> None:
    set_debug_nans(True)
    set_debug_nans(True, True)
    set_debug_nans(False)
    with pytest.warns(RuntimeWarning, match="invalid"):
        ops.log(-1.0)


def test_debug_nans_blocks_that_overlap() -> None:
    """Blocks of two threads may end in the order in which they began."""
    first, second = debug_nans(), debug_nans()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    with pytest.raises(NonFiniteError):
        ops.log(-1.0)
    second.__exit__()
    with pytest.warns(RuntimeWarning, match="invalid"):
        ops.log(-1.0)


def test_set_debug_nans_within_a_block_holds_after_it() -> None:
    with debug_nans(False):
        set_debug_nans(True)
        with pytest.warns(RuntimeWarning, match="invalid"):
            ops.log(-1.0)
    with pytest.raises(NonFiniteError):
        ops.log(-1.0)
    set_debug_nans(False)


def test_debug_nans_as_decorator_without_parentheses() -> None:
    with pytest.raises(ArgumentTypeError, match=r"got the function log; write @debug_nans\(\), with parentheses"):
        debug_nans(ops.log)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, "yes", 3])
def test_debug_nans_takes_true_or_false(given: object) -> None:
    with pytest.raises(ArgumentTypeError, match="debug_nans: expected True or False, got"):
        debug_nans(given)  # type: ignore[arg-type]


def test_debug_nans_infs_raises_without_a_warning() -> None:
    with debug_nans(infs=True):
        with pytest.raises(NonFiniteError, match=r"exp 1000\.0 = inf"):
            ops.exp(1000.0)
        with pytest.raises(NonFiniteError, match=r"div 1\.0 0\.0 = inf"):
            ops.div(1.0, 0.0)


@pytest.mark.parametrize(
    ("value", "x", "raises"),
    [
        ("1", "-1.0", True),
        ("0", "-1.0", False),
        ("", "-1.0", False),
        ("infs", "0.0", True),
        ("True", "-1.0", True),
        ("false", "-1.0", False),
        ("off", "-1.0", False),
    ],
)
def test_debug_nans_by_environment(value: str, x: str, raises: bool) -> None:
    program = f"import lawful.staging; from lawful import ops; ops.log({x})"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"LAWFUL_DEBUG_NANS": value}, capture_output=True, text=True
    )
    assert (done.returncode == 1 and "NonFiniteError" in done.stderr) == raises


def test_debug_nans_by_another_word_in_the_environment() -> None:
    environment = {"LAWFUL_DEBUG_NANS": "nan"}
    done = subprocess.run(
        [sys.executable, "-c", "import lawful.staging"], env=environment, capture_output=True, text=True
    )
    message = "LAWFUL_DEBUG_NANS in the environment: expected 1, infs or 0, got 'nan'"
    assert message in done.stderr.splitlines()[-1]


def test_debug_nans_takes_infs_by_name() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"one positional argument, got also True; write debug_nans\(infs=True\)"
    ):
        debug_nans(True, True)  # type: ignore[arg-type]
