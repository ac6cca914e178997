"""Run the tests: makes the environment first if need be, then calls pytest.

All arguments go to pytest::

    python3 scripts/test.py
    python3 scripts/test.py tests/test_rules.py -k engineer
    python3 scripts/test.py -n 0 --pdb
"""

from __future__ import annotations

import os

import _environment as environment


def main(arguments: list[str]) -> int:
    """Run pytest with the arguments and return its exit code."""
    # pytest has an option of this name too, and gets it as well.
    venv = environment.ensure(["dev"], verbose="--verbose" in arguments)
    python = environment.tool(venv, "python")
    options = pytest_options(arguments, os.environ.get("PYTEST_ADDOPTS", ""))
    return environment.call([python, "-m", "pytest", *options])


def pytest_options(arguments: list[str], from_environment: str = "") -> list[str]:
    """Arguments for pytest: one worker for each core, unless the caller speaks of workers."""
    for word in from_environment.split() + arguments:
        if word.startswith(("-n", "--numprocesses")) or word.endswith("no:xdist"):
            return arguments
    return ["-n", "auto", *arguments]


if __name__ == "__main__":
    environment.run_script(main)
