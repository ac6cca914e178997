"""The project's own virtual environment: made once, found again at once.

``quickstart.py`` and ``test.py`` begin here. Nothing but Python's standard library is needed, and
the file is kept readable for Python 3.7, so that an old Python can say that it is too old.

The environment is ``.venv`` in the project's folder, or the folder that JUNQI_VENV names. A stamp
inside it holds a digest of all that went into it; while the digest is the same, nothing is done.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
STAMP = "junqi-stamp.json"
LOG = "install.log"

# What pip or venv says when it fails (any of the phrases), and what then helps. First match wins,
# so the causes stand before their consequences.
ADVICE = [
    (
        ["ensurepip", "No module named venv", "No module named pip"],
        "This Python comes without venv or pip: on Debian and Ubuntu, `apt install python3-venv`.",
    ),
    (
        ["No space left on device", "Errno 28", "WinError 112", "Disk quota exceeded"],
        "The disk is full: about 1 GB is needed. JUNQI_VENV=FOLDER puts the environment elsewhere.",
    ),
    (
        ["ProxyError", "Tunnel connection failed", "407 Proxy"],
        "The proxy refused: check the variable HTTPS_PROXY, or `proxy` in pip's configuration.",
    ),
    (
        ["CERTIFICATE_VERIFY_FAILED", "SSLError", "SSL module is not available"],
        "The secure connection failed: check the clock, or give pip your certificates (PIP_CERT).",
    ),
    (
        [
            "NewConnectionError",
            "NameResolutionError",
            "ConnectTimeout",
            "ReadTimeout",
            "ConnectionResetError",
            "ProtocolError",
            "Max retries exceeded",
        ],
        "The network did not answer: check the connection (behind a proxy, set HTTPS_PROXY).",
    ),
    (
        ["Permission denied", "Errno 13", "WinError 5", "WinError 32", "Read-only file system"],
        "A file could not be written: close programs that use the environment, or put it elsewhere "
        "with JUNQI_VENV=FOLDER.",
    ),
    (
        ["No matching distribution found", "Could not find a version", "ResolutionImpossible"],
        "A package is missing for this Python or machine: try Python 3.11, with which "
        "constraints.txt was made, and check the index that pip is configured to use.",
    ),
]


class SetupFailed(RuntimeError):
    """The environment could not be made; the text says why and what to do."""


def run_script(main: Callable[[list[str]], int]) -> None:
    """Run ``main(arguments)`` of a script and leave Python with its exit code."""
    try:
        check_python()
        code = main(sys.argv[1:])
    except SetupFailed as error:
        print(error, file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        # The reader has gone (`| head`). Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def check_python(version: Sequence[Any] = sys.version_info) -> None:
    """Raise ``SetupFailed`` for a Python that is too old."""
    if tuple(version[:2]) < OLDEST_PYTHON:
        oldest = ".".join(str(number) for number in OLDEST_PYTHON)
        found = ".".join(str(number) for number in version[:3])
        newer = f"py -{oldest}" if os.name == "nt" else f"python{oldest}"
        raise SetupFailed(
            f"needs Python {oldest} or newer, this is {found}: "
            f"run it with a newer one, for example `{newer} {sys.argv[0]}`"
        )


def ensure(parts: Iterable[str] = (), verbose: bool = False) -> Path:
    """Make sure that the environment holds the project, and return the environment's folder.

    Args:
        parts: Extras or dependency groups of ``pyproject.toml`` wanted besides the core.
        verbose: Show all that pip says instead of short progress.

    Raises:
        SetupFailed: The environment could not be made.
    """
    venv = venv_folder()
    wanted = set(parts)
    stamp = read_stamp(venv)
    installed = set(stamp.get("parts", ()))
    try:
        if stamp.get("digest") != digest() or not wanted <= installed or not _is_whole(venv):
            _install(venv, *_requirements(wanted, installed), verbose)
    except OSError as error:
        raise SetupFailed(_explain(f"cannot set up {venv}: {error}", str(error))) from error
    return venv


def venv_folder() -> Path:
    """Where the environment is; a relative JUNQI_VENV counts from the project's folder."""
    return ROOT / os.path.expanduser(os.environ.get("JUNQI_VENV") or ".venv")


def tool(venv: Path, name: str, windows: bool = os.name == "nt") -> Path:
    """Path of a program in an environment, such as ``python`` or ``junqi``."""
    return venv / "Scripts" / f"{name}.exe" if windows else venv / "bin" / name


def call(command: Sequence[str | Path]) -> int:
    """Run a program in the project's folder, wait for its end and return its exit code.

    After Ctrl-C, which the program receives too, it may finish what it has to say.
    """
    interrupted = False
    process = subprocess.Popen([str(word) for word in command], cwd=ROOT)
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return code if code >= 0 else 128 - code  # a shell's code for "ended by a signal"


def digest() -> str:
    """One word for all that an installation depends on, except for its parts."""
    files = [ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__)]
    parts = [path.read_bytes() for path in files]
    parts += [_python_identity().encode(), os.fsencode(ROOT), os.fsencode(venv_folder())]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def read_stamp(venv: Path) -> dict[str, Any]:
    """What was installed in an environment; empty if that is not known."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(venv: Path, parts: Iterable[str], finished: bool) -> None:
    """Note what an environment holds, or is going to hold if it is not ``finished``."""
    stamp = {"venv": str(venv), "parts": sorted(parts), "digest": digest() if finished else ""}
    (venv / STAMP).write_text(json.dumps(stamp), encoding="utf-8")


def _install(
    venv: Path, parts: set[str], build_tools: list[str], packages: list[str], verbose: bool
) -> None:
    """Install into the environment that is there if it is usable, else into a new one."""
    started = time.monotonic()
    if not _is_usable(venv):
        _clear(venv)
        # From here on the folder is known to be ours, and known to be unfinished.
        write_stamp(venv, parts, finished=False)
        # In an activated environment sys.executable may be the very one that was just removed.
        python = getattr(sys, "_base_executable", sys.executable)
        _step(f"making {venv}", [python, "-m", "venv", str(venv)], venv, verbose)
    write_stamp(venv, parts, finished=False)
    pip = [str(tool(venv, "python")), "-m", "pip", "install", "--disable-pip-version-check"]
    # Nobody sees a question of pip's: fail instead.
    pip += ["--no-input", "--progress-bar=off", "--constraint=constraints.txt"]
    # Built in the environment itself, not in a temporary one: so the build tool obeys the
    # constraints under every version of pip, and no network is needed once all is there.
    _step("installing the build tool", pip + build_tools, venv, verbose)
    title = "installing junqi" + "".join(f" + {part}" for part in sorted(parts))
    _step(title, [*pip, "--no-build-isolation", *packages], venv, verbose)
    write_stamp(venv, parts, finished=True)
    print(f"ready after {time.monotonic() - started:.0f} s", file=sys.stderr)


def _requirements(wanted: set[str], installed: set[str]) -> tuple[set[str], list[str], list[str]]:
    """The parts to install, and for pip: the build tools, then the packages."""
    import tomllib  # new in Python 3.11, so not before check_python

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"]
    groups = settings["dependency-groups"]  # older pips have no option for them
    known = {*extras, *groups}
    if not wanted <= known:
        expected = ", ".join(sorted(known))
        unknown = ", ".join(repr(part) for part in sorted(wanted - known))
        raise SetupFailed(f"expected extras or groups of the project ({expected}), got {unknown}")
    # What was there stays, so that scripts with different wishes do not undo each other's work.
    parts = wanted | (installed & known)
    chosen = ",".join(sorted(parts & set(extras)))
    packages = ["--editable", f".[{chosen}]" if chosen else "."]
    for group in sorted(parts & set(groups)):
        packages += groups[group]
    return parts, settings["build-system"]["requires"], packages


def _python_identity() -> str:
    """Which Python this is, the same inside and outside of environments made with it."""
    return ascii((sys.version, sys.base_prefix))


def _is_whole(venv: Path) -> bool:
    """Whether the programs are there; a link to a removed Python does not count."""
    return tool(venv, "python").exists() and tool(venv, "junqi").exists()


def _is_usable(venv: Path) -> bool:
    """Whether the environment works, has pip and was made here with this very Python."""
    if read_stamp(venv).get("venv", str(venv)) != str(venv):
        return False  # moved or copied: its programs still name the old place
    question = "import sys, pip; print(ascii((sys.version, sys.base_prefix)))"
    try:
        answer = subprocess.run(
            [str(tool(venv, "python")), "-c", question],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return answer.decode(errors="replace").strip() == _python_identity()


def _clear(venv: Path) -> None:
    """Empty the environment's folder, unless it may hold something that is not ours."""
    if venv.is_dir() and any(venv.iterdir()):
        if os.environ.get("JUNQI_VENV") and not (venv / STAMP).exists():
            raise SetupFailed(
                f"expected an empty folder or an environment of this Python in JUNQI_VENV, "
                f"got other files: {str(venv)!r}"
            )
        print(f"{venv} is not usable with this Python: making it anew", file=sys.stderr)
        shutil.rmtree(venv)
    venv.mkdir(parents=True, exist_ok=True)


def _step(title: str, command: list[str], venv: Path, verbose: bool) -> None:
    """Run one step of the set-up with its output in the log, showing progress on stderr."""
    log = venv / LOG
    live = sys.stderr.isatty() and not verbose
    started = time.monotonic()
    print(f"{title} ...", end="" if live else "\n", file=sys.stderr, flush=True)
    environment = dict(os.environ, PYTHONUNBUFFERED="1")  # so that the log grows line by line
    environment["PIP_USER"] = "0"  # a configured `user = true` is refused in environments
    with open(log, "wb") as output, subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if verbose else output,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    if live:
                        seconds = time.monotonic() - started
                        _show(f"{title} ... {seconds:.0f} s  {_last_lines(log, 1)}")
        except BaseException:
            process.terminate()
            raise
    if live:
        _show(f"{title} ... {time.monotonic() - started:.0f} s")
        print(file=sys.stderr)
    if code != 0:
        said = _last_lines(log, 400)
        problem = f"{title} failed with exit code {code}"
        if said:
            tail = "\n".join(f"  | {line[:200]}" for line in said.splitlines()[-12:])
            problem += f":\n{tail}\nAll of it is in {log}"
        raise SetupFailed(_explain(problem, said))


def _show(line: str) -> None:
    """Replace the current line of the terminal."""
    width = shutil.get_terminal_size().columns - 1
    print("\r" + line[:width].ljust(width), end="", file=sys.stderr, flush=True)


def _last_lines(log: Path, count: int) -> str:
    lines = log.read_bytes()[-40_000:].decode(errors="replace").splitlines()
    return "\n".join([line for line in lines if line.strip()][-count:])


def _explain(problem: str, said: str) -> str:
    """A problem, then what to do about it, judged by what was said."""
    for phrases, remedy in ADVICE:
        if any(phrase in said for phrase in phrases):
            advice = [remedy]
            break
    else:
        advice = []
    advice.append("Run the same command again: it goes on where it stopped.")
    advice.append(f"If that does not help, delete {venv_folder()} and run with --verbose.")
    return problem + "\nWhat to do:\n" + "\n".join(f"  - {line}" for line in advice)
