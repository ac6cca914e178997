"""The set-up scripts, without a network: stamps, repairs, advice, and what reaches pytest."""

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import _environment as environment
import pytest

SCRIPTS = Path(environment.__file__).parent


def load(name):
    """A script as a module; `test` by its plain name would be Python's own."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of its own whose steps are only written down; `failing` names one that fails."""

    class Project:
        def __init__(self):
            self.steps = []
            self.failing = None
            self.venv = tmp_path / ".venv"

        def ensure(self, *parts):
            """Steps taken to make sure of the parts, as titles."""
            self.steps.clear()
            assert environment.ensure(parts) == environment.venv_folder()
            return [title for title, _ in self.steps]

        def _step(self, title, command, venv, verbose):
            if self.failing and self.failing in title:
                raise environment.SetupFailed(f"{title} failed")
            self.steps.append((title, command))
            programs = environment.tool(venv, "python").parent
            programs.mkdir(exist_ok=True)
            for name in ["python"] if "venv" in command else ["junqi"]:
                environment.tool(venv, name).touch()

    (tmp_path / "constraints.txt").write_text("typer==1.0\n")
    (tmp_path / "pyproject.toml").write_text(
        """
        [build-system]
        requires = ["hatchling"]
        [project.optional-dependencies]
        plots = ["matplotlib"]
        web = ["starlette"]
        [dependency-groups]
        dev = ["pytest", "ruff"]
        """
    )
    made = Project()
    monkeypatch.delenv("JUNQI_VENV", raising=False)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "_step", made._step)
    # The stand-in for the environment's Python cannot be asked.
    monkeypatch.setattr(environment, "_is_usable", environment._is_whole)
    return made


def test_first_run_installs_and_second_does_nothing(project):
    making, tool, installing = project.ensure()
    assert making == f"making {project.venv}"
    assert tool == "installing the build tool"
    assert installing == "installing junqi"
    assert project.ensure() == []


def test_pip_gets_extras_groups_and_constraints(project):
    project.ensure("web", "dev", "plots")
    _, command = project.steps[-1]
    assert command[0] == str(environment.tool(project.venv, "python"))
    assert command[-4:] == ["--editable", ".[plots,web]", "pytest", "ruff"]
    assert "--constraint=constraints.txt" in command
    assert not any("index" in word for word in command)


def test_larger_installation_serves_smaller_wishes(project):
    project.ensure("dev", "web")
    assert project.ensure() == []
    assert project.ensure("dev") == []
    assert project.ensure("web") == []


def test_smaller_installation_is_extended_and_keeps_what_it_had(project):
    project.ensure("dev")
    assert project.ensure("web") == [
        "installing the build tool",
        "installing junqi + dev + web",
    ]
    assert project.ensure("dev", "web") == []


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_file_installs_again(project, name):
    project.ensure()
    path = environment.ROOT / name
    path.write_text(path.read_text() + "\n# changed\n")
    assert project.ensure() == ["installing the build tool", "installing junqi"]
    assert project.ensure() == []


def test_part_that_has_gone_from_pyproject_is_forgotten(project):
    project.ensure("web")
    path = environment.ROOT / "pyproject.toml"
    path.write_text(path.read_text().replace("web =", "site ="))
    assert project.ensure()[-1] == "installing junqi"


def test_unknown_part_is_refused(project):
    with pytest.raises(environment.SetupFailed, match=r"expected extras or groups .*, got 'webb'"):
        project.ensure("webb")


def test_another_python_installs_again(project, monkeypatch):
    project.ensure()
    monkeypatch.setattr(environment.sys, "version", "3.99.0")
    assert project.ensure() != []


@pytest.mark.parametrize("program", ["python", "junqi"])
def test_lost_program_is_brought_back(project, program):
    project.ensure()
    environment.tool(project.venv, program).unlink()
    assert project.ensure() != []
    assert environment.tool(project.venv, program).exists()


@pytest.mark.parametrize("stamp", ["", "{", "[]", '{"parts": []}', "\udcff"])
def test_damaged_stamp_installs_again(project, stamp):
    project.ensure()
    (project.venv / environment.STAMP).write_text(stamp, errors="surrogateescape")
    assert project.ensure() != []
    assert project.ensure() == []


@pytest.mark.parametrize("step", ["making", "build tool", "installing junqi"])
def test_failed_run_is_repaired_by_the_next(project, step):
    project.failing = step
    with pytest.raises(environment.SetupFailed):
        project.ensure("dev")
    project.failing = None
    assert project.ensure("dev")[-1] == "installing junqi + dev"
    assert project.ensure("dev") == []


def test_half_made_environment_is_made_anew(project, capsys):
    project.venv.mkdir()
    (project.venv / "rubbish").touch()
    assert project.ensure()[0] == f"making {project.venv}"
    assert not (project.venv / "rubbish").exists()
    assert "making it anew" in capsys.readouterr().err


def test_environment_elsewhere(project, monkeypatch, tmp_path):
    monkeypatch.setenv("JUNQI_VENV", str(tmp_path / "else" / "where"))
    assert project.ensure()[0] == f"making {tmp_path / 'else' / 'where'}"
    assert project.ensure() == []


def test_environment_elsewhere_never_deletes_what_is_not_ours(project, monkeypatch, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis").touch()
    monkeypatch.setenv("JUNQI_VENV", "home")
    with pytest.raises(environment.SetupFailed, match="expected an empty folder"):
        project.ensure()
    assert (tmp_path / "home" / "thesis").exists()


def test_usable_means_this_python_in_this_place(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "tool", lambda venv, name: Path(sys.executable))
    assert environment._is_usable(tmp_path)
    environment.write_stamp(tmp_path, [], finished=True)
    assert environment._is_usable(tmp_path)
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / environment.STAMP).rename(moved / environment.STAMP)
    assert not environment._is_usable(moved)
    monkeypatch.setattr(environment.sys, "base_prefix", "/removed")
    assert not environment._is_usable(tmp_path)


def test_environment_without_its_python_is_not_usable(tmp_path):
    assert not environment._is_usable(tmp_path)


def test_old_python_is_told_in_one_line():
    with pytest.raises(environment.SetupFailed) as caught:
        environment.check_python((3, 9, 2, "final", 0))
    assert str(caught.value).startswith("needs Python 3.11 or newer, this is 3.9.2: ")
    assert "\n" not in str(caught.value)
    environment.check_python((3, 11, 0, "final", 0))
    environment.check_python((4, 0, 0, "final", 0))


@pytest.mark.parametrize("name", ["_environment", "quickstart", "test"])
def test_scripts_parse_on_an_old_python(name):
    source = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))


def step(tmp_path, code, verbose=False):
    environment._step("installing", [sys.executable, "-c", code], tmp_path, verbose)


def test_step_that_succeeds_is_silent_but_for_its_title(tmp_path, capfd):
    step(tmp_path, "print('Collecting typer')")
    assert capfd.readouterr() == ("", "installing ...\n")
    assert (tmp_path / environment.LOG).read_text().strip() == "Collecting typer"


def test_verbose_step_shows_everything_on_stderr(tmp_path, capfd, monkeypatch):
    # Under capfd, sys.stderr is a stand-in: the file descriptor is what a child inherits.
    step(tmp_path, "print('Collecting typer')", verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Collecting typer" in err


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Retrying after NewConnectionError; No matching distribution found", "network"),
        ("ProxyError('Cannot connect to proxy.'); No matching distribution found", "HTTPS_PROXY"),
        ("CERTIFICATE_VERIFY_FAILED; No matching distribution found", "PIP_CERT"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ensurepip is not available", "apt install python3-venv"),
        ("PermissionError: [WinError 32] in use by another process", "close programs"),
        ("ERROR: No matching distribution found for numba", "try Python 3.11"),
        ("something new", "delete"),
    ],
)
def test_failed_step_quotes_the_end_and_gives_advice(tmp_path, said, advice):
    lines = [f"line {number}" for number in range(30)] + [said]
    code = f"import sys; print({chr(10).join(lines)!r}); sys.exit(3)"
    with pytest.raises(environment.SetupFailed) as caught:
        step(tmp_path, code)
    problem, what_to_do = str(caught.value).split("What to do:")
    assert "installing failed with exit code 3" in problem
    assert said in problem
    assert "line 29" in problem
    assert "line 5\n" not in problem
    assert str(tmp_path / environment.LOG) in problem
    assert advice in what_to_do
    assert "--verbose" in what_to_do


def test_folder_that_cannot_be_made_gets_advice(project, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUNQI_VENV", str(tmp_path / "file" / "venv"))
    with pytest.raises(environment.SetupFailed, match=r"(?s)cannot set up .*What to do:"):
        project.ensure()


def test_run_script_turns_problems_into_exit_codes(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["script", "a", "b"])

    def fail(arguments):
        raise environment.SetupFailed("no network")

    def interrupt(arguments):
        raise KeyboardInterrupt

    for main, code in [(len, 2), (fail, 1), (interrupt, 130)]:
        with pytest.raises(SystemExit) as caught:
            environment.run_script(main)
        assert caught.value.code == code
    assert capsys.readouterr().err == "no network\n\ninterrupted\n"


def test_call_returns_the_exit_code():
    assert environment.call([sys.executable, "-c", "import sys; sys.exit(7)"]) == 7


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_call_returns_what_a_shell_would_for_a_signal():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert environment.call([sys.executable, "-c", code]) == 128 + 15


def test_programs_on_windows_and_elsewhere():
    windows = PureWindowsPath(r"C:\junqi\.venv")
    assert str(environment.tool(windows, "junqi", windows=True)) == (
        r"C:\junqi\.venv\Scripts\junqi.exe"
    )
    assert environment.tool(Path("x"), "python", windows=False) == Path("x/bin/python")


@pytest.mark.parametrize(
    ("arguments", "added"),
    [
        ([], ["-n", "auto"]),
        (["-x", "tests/test_rules.py", "-k", "not network"], ["-n", "auto"]),
        (["--no-header"], ["-n", "auto"]),
        (["-n", "1"], []),
        (["-n4"], []),
        (["--numprocesses=3"], []),
        (["-p", "no:xdist"], []),
        (["-pno:xdist"], []),
    ],
)
def test_arguments_go_to_pytest_and_workers_are_added(arguments, added, monkeypatch):
    script = load("test")
    called = []
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setattr(environment, "ensure", lambda parts, verbose: Path("venv") / parts[0])
    monkeypatch.setattr(environment, "call", lambda command: called.append(command) or 5)
    assert script.main(arguments) == 5
    python = environment.tool(Path("venv/dev"), "python")
    assert called == [[python, "-m", "pytest", *added, *arguments]]


def test_workers_may_be_chosen_by_variable():
    assert load("test").pytest_options(["-x"], "-n 3") == ["-x"]


def test_quickstart_echoes_commands_and_stops_at_the_first_failure(capsys, monkeypatch):
    script = load("quickstart")
    codes = iter([0, 0, 4])
    monkeypatch.setattr(environment, "ensure", lambda verbose: Path("venv"))
    monkeypatch.setattr(environment, "call", lambda command: next(codes))
    assert script.main([]) == 4
    out, err = capsys.readouterr()
    echoed = [line for line in out.splitlines() if line.startswith("$ ")]
    assert echoed == [f"$ {command}" for _, command in script.COMMANDS[:3]]
    assert f"exit code 4 from `{script.COMMANDS[2][1]}`" in err
    assert "What next" not in out


def test_quickstart_leaves_the_users_book_alone(monkeypatch):
    script = load("quickstart")
    books = []
    monkeypatch.setenv("JUNQI_BOOK", "mine.db")
    monkeypatch.setattr(environment, "ensure", lambda verbose: Path("venv"))

    def call(command):
        books.append(os.environ["JUNQI_BOOK"])
        assert Path(books[-1]).parent.is_dir()
        programs = Path(os.environ["PATH"].split(os.pathsep)[0])
        assert programs == environment.tool(Path("venv").resolve(), "junqi").parent
        return 0

    monkeypatch.setattr(environment, "call", call)
    assert script.main([]) == 0
    assert len(books) == len(script.COMMANDS)
    assert len(set(books)) == 1
    assert not Path(books[0]).parent.exists()
    assert os.environ["JUNQI_BOOK"] == "mine.db"


def test_quickstart_ends_with_what_next(capsys, monkeypatch):
    script = load("quickstart")
    monkeypatch.setattr(environment, "ensure", lambda verbose: Path("venv"))
    monkeypatch.setattr(environment, "call", lambda command: 0)
    assert script.main([]) == 0
    assert str(environment.tool(Path("venv"), "junqi")) in capsys.readouterr().out


def test_quickstart_help_lists_its_commands(capsys):
    script = load("quickstart")
    with pytest.raises(SystemExit) as caught:
        script.main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert all(command in out for _, command in script.COMMANDS)


@pytest.mark.slow
def test_fresh_machine_without_packages_is_told_what_to_do(tmp_path):
    """The whole of it, with a real environment and a real pip that may not look anywhere."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    mine.update(JUNQI_VENV=str(tmp_path / "venv"), PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    ran = subprocess.run(
        [sys.executable, str(SCRIPTS / "quickstart.py")],
        env=mine,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "installing the build tool failed" in ran.stderr
    assert "  | ERROR: " in ran.stderr
    assert "hatchling" in ran.stderr
    assert "What to do:" in ran.stderr
    assert "Traceback" not in ran.stderr
