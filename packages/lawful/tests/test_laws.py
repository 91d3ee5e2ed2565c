"""`lawful laws`: runs in processes of its own, with a fault that a module plants when it is imported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(sys.executable).with_name("lawful")

# The derivative of sin is wrong in this module, which a user could have written.
WRONG_SINE = """
from lawful import ops


@ops.sin_p.def_jvp
def wrong(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return ops.sin_p.bind(x), ops.mul(x_dot, ops.sin_p.bind(x))
"""

# The whole process ends where sin is differentiated.
DEADLY_SINE = """
import os
from lawful import ops


@ops.sin_p.def_jvp
def deadly(primals, tangents):
    os._exit(7)
"""

NEW_PRIMITIVE = """
import numpy as np
from lawful.core import Declaration, Primitive, ShapedArray

twice_p = Primitive("twice")
twice_p.declaration = Declaration(
    sample=lambda choose: ((ShapedArray(choose.shape(), np.dtype("float64")),), {}), linear=((0,),)
)
twice_p.def_impl(lambda x: x + x)
twice_p.def_abstract_eval(lambda x: x)
twice_p.def_jvp(lambda primals, tangents: (twice_p.bind(*primals), primals[0]))
"""

SINE = ["--law", "jvp_finite_differences", "--primitive", "sin", "--jobs", "1", "--seed", "1"]


def run(*arguments: str, folder: Path, check: int | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [SCRIPT, "laws", *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert check is None or done.returncode == check, done.stdout + done.stderr
    return done


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_laws_that_hold(tmp_path: Path) -> None:
    done = run("--law", "typing", "--cases", "12", "--jobs", "2", "--seed", "5", folder=tmp_path, check=0)
    assert "laws hold of 3 programs and 9 calls" in done.stdout
    assert (tmp_path / ".lawful" / "laws.html").is_file()
    assert not (tmp_path / ".lawful" / "failures").exists()
    assert not (tmp_path / ".hypothesis").exists()


@pytest.mark.once
def test_laws_failure_database_lifecycle(tmp_path: Path) -> None:
    """A failure is shrunk, stored, tried first on the next run, and deleted when its law holds."""
    (tmp_path / "wrong_sine.py").write_text(WRONG_SINE)
    found = document(run(*SINE, "--cases", "10", "--import", "wrong_sine", "--json", folder=tmp_path, check=1))
    assert not found["holds"]
    # Each source of programs finds it too; which of them is told first depends on how small its program has become.
    assert {one["law"] for one in found["counterexamples"]} == {"jvp_finite_differences"}
    first = next(one for one in found["counterexamples"] if one["source"] == "sin, smooth")
    assert first["state"] == "small"
    assert first["program"] == "ops.sin_p.bind(np.array(0.49))"
    assert first["jaxpr"] == "{ lambda ; a:f64[]. let b:f64[] = sin a in (b,) }"
    assert "the largest difference is" in first["explanation"]
    assert found["laws"]["jvp_finite_differences"]["failed"] >= 1
    assert found["primitives"]["sin"]["laws"]["jvp_finite_differences"]["failed"] >= 1
    report = (tmp_path / ".lawful" / "laws.html").read_text()
    assert "ops.sin_p.bind(np.array(0.49))" in report
    saved = sorted((tmp_path / ".lawful" / "failures").glob("*.json"))
    assert len(saved) == len(found["counterexamples"])

    # The database comes first: one case is enough to find all of it again.
    again = document(run(*SINE, "--cases", "1", "--import", "wrong_sine.py", "--json", folder=tmp_path, check=1))
    assert sum(failure["known"] for failure in again["counterexamples"]) == len(saved)
    assert sorted((tmp_path / ".lawful" / "failures").glob("*.json")) == saved

    fixed = run(*SINE, "--cases", "1", folder=tmp_path, check=0)
    assert "✓ jvp_finite_differences of sin, smooth: failed in an earlier run and holds now; forgotten" in fixed.stdout
    assert not list((tmp_path / ".lawful" / "failures").glob("*.json"))


@pytest.mark.once
def test_laws_seed_gives_the_same_run_on_any_number_of_workers(tmp_path: Path) -> None:
    (tmp_path / "wrong_sine.py").write_text(WRONG_SINE)
    arguments = ["--law", "tangents", "--primitive", "sin", "--cases", "8", "--seed", "3", "--import", "wrong_sine"]
    results = [
        document(run(*arguments, "--jobs", jobs, "--json", "--no-database", folder=tmp_path, check=1))
        for jobs in ("1", "2")
    ]
    for name in ("drawn", "laws", "primitives", "counterexamples"):
        assert results[0][name] == results[1][name], name


def test_laws_process_that_dies_loses_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY_SINE)
    arguments = ["--law", "jvp_linear", "--primitive", "sin", "--primitive", "cos", "--jobs", "2", "--seed", "1"]
    done = run(*arguments, "--cases", "6", "--import", "deadly", "--json", folder=tmp_path, check=1)
    found = document(done)
    deaths = [failure for failure in found["counterexamples"] if failure["law"] == "process"]
    assert deaths[0]["explanation"] == "the process ended with status 7"
    assert found["primitives"]["cos"]["laws"]["jvp_linear"]["passed"] > 0
    assert found["problems"] == []


def test_laws_primitives_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(NEW_PRIMITIVE)
    arguments = ["--primitive", "twice", "--law", "jvp_linear", "--cases", "12", "--import", "new"]
    done = run(*arguments, "--jobs", "1", "--seed", "1", "--json", folder=tmp_path, check=1)
    assert document(done)["counterexamples"][0]["primitives"] == ["twice"]
    # The primitive is not there without its module: saved failures stay.
    kept = run("--law", "jvp_linear", "--cases", "1", "--seed", "1", "--jobs", "1", folder=tmp_path, check=0)
    assert "could not be tried: there is no twice" in kept.stdout
    assert len(list((tmp_path / ".lawful" / "failures").glob("*.json"))) > 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for another process on Windows")
def test_laws_interruption_keeps_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "wrong_sine.py").write_text(WRONG_SINE)
    with subprocess.Popen(
        [SCRIPT, "laws", *SINE, "--budget", "10m", "--import", "wrong_sine", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        end = time.monotonic() + 120
        while not list(tmp_path.glob(".lawful/failures/*.json")) and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers too
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["interrupted"]
    assert found["seconds"] < 590
    assert found["counterexamples"][0]["law"] == "jvp_finite_differences"
    assert "interrupted" in (tmp_path / ".lawful" / "laws.html").read_text()
    assert list(tmp_path.glob(".lawful/failures/*.json"))
    assert "Traceback" not in err


def test_laws_file_that_is_no_failure_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "other.json").write_text("[]")
    done = run("--law", "print_parse", "--cases", "2", "--jobs", "1", "--database", "kept", folder=tmp_path, check=0)
    assert "not a saved failure: kept/other.json" in done.stdout


@pytest.mark.once
def test_laws_thorough_samples_laws_and_backends(tmp_path: Path) -> None:
    arguments = ("--profile", "thorough", "--cases", "40", "--jobs", "2", "--seed", "4", "--json")
    told = document(run(*arguments, folder=tmp_path, check=0))
    checks = {name: law["passed"] + law["failed"] + law["inapplicable"] for name, law in told["laws"].items()}
    assert told["effort"] == "thorough"
    assert checks["eval_jaxpr"] == 40 - told["drawn"]["nothing"]
    assert 0 < checks["typing"] < checks["eval_jaxpr"]  # which special numbers are not held to
    assert 0 < checks["scan_is_loop"] < 20  # a costly law: of few cases


def test_laws_thorough_tries_a_named_law_on_each_case(tmp_path: Path) -> None:
    arguments = ("--profile", "thorough", "--law", "scan_is_loop", "--primitive", "sin", "--cases", "10", "--jobs", "1")
    told = document(run(*arguments, "--seed", "3", "--json", folder=tmp_path, check=0))
    law, drawn = told["laws"]["scan_is_loop"], told["drawn"]
    assert law["passed"] + law["inapplicable"] == drawn["programs"] + drawn["calls"] > 0


@pytest.mark.once
def test_laws_thorough_shrinks_with_the_effort_that_found(tmp_path: Path) -> None:
    (tmp_path / "wrong_sine.py").write_text(WRONG_SINE)
    arguments = (*SINE, "--profile", "thorough", "--cases", "10", "--import", "wrong_sine", "--json")
    told = document(run(*arguments, folder=tmp_path, check=1))
    assert {one["effort"] for one in told["counterexamples"]} <= {"quick", "usual", "thorough"}
    assert {one["state"] for one in told["counterexamples"]} == {"small"}
    assert {one["backend"] for one in told["counterexamples"]} <= {"numpy", "xla"}
