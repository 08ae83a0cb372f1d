"""Runs the tests in a virtual environment of their own: `python tests/run.py [--environment FOLDER] [options of pytest]`."""

import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(HERE)


def main(arguments: "list[str]") -> int:
    environment = os.path.join(PACKAGE, ".venv")
    if arguments[:1] == ["--environment"]:
        environment, arguments = arguments[1], arguments[2:]
    python = os.path.join(environment, "Scripts" if os.name == "nt" else "bin", "python")
    done = os.path.join(environment, "stemma-requirements")
    with open(os.path.join(HERE, "requirements.txt"), encoding="utf-8") as file:
        wanted = file.read()
    if _text(done) != wanted:
        venv.create(environment, with_pip=True, clear=True)
        options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
        subprocess.check_call(
            [python, "-m", "pip", "install", *options, "-r", os.path.join(HERE, "requirements.txt")]
        )
        with open(done, "w", encoding="utf-8") as file:
            file.write(wanted)
    variables = {**os.environ, "PYTHONPATH": os.path.join(PACKAGE, "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.call(command, cwd=PACKAGE, env=variables)


def _text(path: str) -> "str | None":
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
