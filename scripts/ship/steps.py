"""Writes the lines after each `run: |` of a workflow or an action to FOLDER/1.sh, FOLDER/2.sh and so on: steps.py FILE FOLDER."""

import pathlib
import re
import sys

file, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
steps = re.findall(r"^( *)run: \|\n((?:\1  .*\n|\n)+)", file.read_text() + "\n", re.MULTILINE)
for number, (indent, lines) in enumerate(steps, 1):
    (folder / f"{number}.sh").write_text(re.sub(rf"^{indent}  ", "", lines, flags=re.MULTILINE).rstrip("\n") + "\n")
