import json
import sys

import pytest
from stemma_recorder._pytest import stemma_rerun  # noqa: F401 (pytest finds it by itself in an installed package)
from stemma_recorder.rerun import RerunError

CALL = {"label": "@c1", "how": "same", "bindings": [], "difference": None, "led_to": None}
DIFFERENCE = {"message": 2, "role": "tool", "a": "3 ships", "b": None, "cause": "tool result", "node": None, "by": None}


def program(folder, report, code):
    """A program that says a report and ends with a code, as `stemma` would."""
    path = folder / "stemma"
    path.write_text(f"#!{sys.executable}\nimport sys\nprint({json.dumps(json.dumps(report))})\nsys.exit({code})\n")
    path.chmod(0o755)
    return str(path)


def report(*calls, exit=0):
    return {"exit": exit, "calls": list(calls)}


def test_the_fixture_gives_the_report_of_an_agent_that_does_what_was_recorded(tmp_path, stemma_rerun):
    said = report(CALL)
    assert stemma_rerun("run.stemma", "true", stemma=program(tmp_path, said, 0)) == said


@pytest.mark.parametrize(
    "said, code, words",
    [
        (report({**CALL, "how": "differs", "difference": DIFFERENCE}, exit=5), 5, "at @c1: tool result (message 2)"),
        (report({**CALL, "how": "missing"}, exit=5), 5, "at @c1: missing"),
        (report(CALL, exit=1), 1, "ends otherwise"),
        ("no report", 64, "ended with 64"),
    ],
)
def test_an_agent_that_does_something_else_fails_the_test(tmp_path, stemma_rerun, said, code, words):
    with pytest.raises(RerunError) as raised:
        stemma_rerun("run.stemma", "true", stemma=program(tmp_path, said, code))
    assert words in str(raised.value)
    assert raised.value.exit == code


def test_a_program_that_is_not_there_is_named(tmp_path, stemma_rerun):
    with pytest.raises(RerunError, match="STEMMA_PROGRAM"):
        stemma_rerun("run.stemma", "true", stemma=str(tmp_path / "nothing"))
