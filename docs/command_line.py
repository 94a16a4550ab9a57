"""Run the commands of ``docs/command-line.md`` and put their output into it.

``python docs/command_line.py`` does it with the ``steadyboost`` of the path, as a reader would;
``python docs/command_line.py compare.md`` does it for another page.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
# What a slow machine prints besides: progress of jobs of more than ten seconds
PROGRESS = re.compile(r"^(expected time: |\w+: .*, \d+ of \d+).*\n", flags=re.MULTILINE)
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```)", flags=re.DOTALL | re.MULTILINE)


def run_shell(command, folder):
    """What a command prints, of both kinds."""
    done = subprocess.run(
        command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout


def filled(text, run, folder):
    """The page with the output of ``run(command, folder)`` below each command."""
    code = "\n".join(PYTHON.findall(text))
    subprocess.run(["python", "-c", code], cwd=folder, check=True)

    def answer(block):
        commands = re.findall(r"^\$ (.*)$", block[0], flags=re.MULTILINE)
        return "\n".join(f"$ {line}\n{PROGRESS.sub('', run(line, folder))}" for line in commands)

    return CONSOLE.sub(answer, text)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["command-line.md"]:
        file = Path(__file__).with_name(name)
        with tempfile.TemporaryDirectory() as folder:
            page = filled(file.read_text(encoding="utf-8"), run_shell, folder)
        file.write_text(page, encoding="utf-8")
