"""The command of the meta-distribution: what it says alone, and how it ends."""

import json
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import pytest

from lawful.cli import main

SCRIPT = Path(sys.executable).with_name("lawful")


def test_the_command_lists_every_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    layers = [line.split("==")[0] for line in requires("lawful") or () if line.startswith("lawful-")]
    assert len(layers) > 10
    assert [layer for layer in layers if layer not in printed] == []
    assert "numpy, xla" in printed


def test_command_layers_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {"numpy", "xla"} <= set(printed["backends"])
    assert "lawful-core" in {layer["name"] for layer in printed["layers"]}


def test_command_script_is_installed() -> None:
    done = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lawful {version('lawful')}\n"


def test_command_script_is_no_line_of_the_program(tmp_path: Path) -> None:
    """A bare op has no line of the user: neither its page nor an error names the script, which calls it."""
    page = tmp_path / "page.html"
    command = [SCRIPT, "show", "lawful.ops:sin", "--html", page, "--grad", "--args"]
    subprocess.run([*command, "f64[3]"], capture_output=True, check=True)
    assert "jvp rule of sin" in page.read_text()
    assert "sys.exit(main())" not in page.read_text()
    failed = subprocess.run([*command, "i32[3]"], capture_output=True, text=True, check=False)
    assert "expected floating types, got i32[3] of argument 0" in failed.stderr
    assert str(SCRIPT) not in failed.stderr


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_command_what_needs_no_arrays_imports_none(argument: str) -> None:
    program = (
        "import sys\nfrom lawful.cli import main\n"
        f"try:\n    main([{argument!r}])\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'rich', 'hypothesis', 'lawful.core'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)


@pytest.mark.parametrize("command", [[], ["laws"], ["show"], ["rules"]])
def test_command_help_tells_the_exit_status(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for status in ("0", "1", "2", "130"):
        assert f"\n  {status} " in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["laws", "--budget", "soon"], "expected a time such as 90, 90s, 10m or 1h30m, got 'soon'"),
        (["laws", "--jobs", "0"], "expected a number that is at least 1, got '0'"),
        (["laws", "--budget", "1m", "--cases", "3"], "not allowed with"),
        (["show", "m:f", "--argnums", "x"], "expected numbers between commas, got 'x'"),
    ],
)
def test_command_wrong_option_ends_with_status_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--law", "vjp_transposed"], "no law or group 'vjp_transposed'; did you mean 'vjp_transpose'?"),
        (["--primitive", "sine"], "no primitive 'sine'; did you mean 'sin'?"),
        (["--system", "matlab"], "--system matlab: "),
        (["--system", "autograd"], "--system autograd: "),
        (["--backend", "xlb"], "no backend 'xlb'; installed are numpy, xla"),
        (["--import", "nowhere"], "no module named 'nowhere' here"),
        (["--import", "broken.py"], "ValueError: of the module"),
        (["--report", "."], "--report .: is a folder"),
        (["--database", __file__], f"--database {__file__}: is a file; name a folder"),
    ],
)
def test_command_what_laws_cannot_do_is_said_in_short(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("broken.py").write_text("raise ValueError('of the module')\n")
    monkeypatch.setitem(sys.modules, "autograd", None)  # as where it is not installed
    for name in [name for name in sys.modules if name.startswith("lawful.laws.systems.autograd")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["laws", "--cases", "1", *arguments]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert not printed.out
    assert printed.err.count("Traceback") == 0
