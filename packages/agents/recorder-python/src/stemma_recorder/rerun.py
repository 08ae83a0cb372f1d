"""Runs an agent once more, answered from a recorded run.

With pytest, a whole test is one line:

    def test_agent(stemma_rerun):
        stemma_rerun("run.stemma", "python", "agent.py")
"""

import json
import os
import shutil
import subprocess

__all__ = ["RerunError", "rerun"]

_MOST = 1_000


class RerunError(AssertionError):
    """An agent does not do what was recorded.

    report: what `stemma rerun --json` says; None if it did not run. exit: its exit code: 5 a difference, 1 another
    end of the agent, 64 what cannot be served.
    """

    def __init__(self, message, report=None, exit=None):
        super().__init__(message)
        self.report, self.exit = report, exit


def rerun(run, *command, options=(), cwd=None, env=None, stemma=None):
    """Gives the report if each call of the command is the recorded one, and the command ends as it did.

    run: a file that `stemma bundle` wrote, or a history of the home that STEMMA_HOME names. options: further ones of
    `stemma rerun`. env: variables beside those of this process. stemma: the program (default: STEMMA_PROGRAM, else that
    of PATH). Raises RerunError with the first difference.
    """
    variables = {**os.environ, **(env or {})}
    program = stemma or variables.get("STEMMA_PROGRAM") or "stemma"
    found = shutil.which(program, path=variables.get("PATH"))
    if found is None:
        raise RerunError(f"there is no program {program}: install it (npm install stemma), or say where it is in STEMMA_PROGRAM")
    words = [os.fspath(word) for word in command]
    ran = subprocess.run(
        [found, "rerun", os.fspath(run), *options, "--json", "--", *words],
        cwd=cwd,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    report = _report(ran.stdout)
    if ran.returncode == 0 and report is not None:
        return report
    shown = f"stemma rerun {os.fspath(run)} -- {' '.join(words)}"
    if report is None:
        said = ran.stderr.decode("utf-8", "replace")[-4_000:]
        raise RerunError(f"{shown} ended with {ran.returncode}:\n{said}", None, ran.returncode)
    raise RerunError(f"{_sentences(report, run)}\n  {shown}      shows all of it", report, ran.returncode)


def _report(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "calls" in value else None


def _sentences(report, run):
    first = next((call for call in report["calls"] if call["how"] not in ("same", "bound", "other order")), None)
    if first is None:
        return f"the agent ends otherwise than in {os.fspath(run)}: exit {report['exit']}"
    difference = first["difference"]
    lines = [f"the agent parts from {os.fspath(run)} at {first['label']}: {_what(first)}"]
    if difference is not None:
        lines += [f"  recorded: {_text(difference['a'])}", f"  now:      {_text(difference['b'])}"]
    return "\n".join(lines)


def _what(call):
    difference = call["difference"]
    if difference is None:
        return call["how"]
    message = difference["message"]
    return difference["cause"] if message is None else f"{difference['cause']} (message {message})"


def _text(value):
    text = "nothing" if value is None else value
    return text if len(text) <= _MOST else text[:_MOST] + "…"
