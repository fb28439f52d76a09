"""Turns a Dockerfile into a script that does in a folder what its instructions say: image.py DOCKERFILE CONTEXT SYSTEM.

The script expects the base system in SYSTEM and a function in_system, and leaves the command that the image starts in `entrypoint`, where
it starts in `workdir`. An instruction that it does not know is an error.
"""

import json
import pathlib
import re
import shlex
import sys

dockerfile, context, system = sys.argv[1:]
text = re.sub(r"\\\n", "", "".join(line for line in pathlib.Path(dockerfile).read_text().splitlines(True) if not line.startswith("#")))
for line in filter(None, map(str.strip, text.splitlines())):
    instruction, rest = line.split(None, 1)
    if instruction == "FROM":
        print(f"# {line}")
    elif instruction == "RUN":
        print(f"in_system {system} sh -c {shlex.quote(rest)}")
    elif instruction == "ADD":
        source, to = rest.split()
        archives = sorted(pathlib.Path(context).glob(source))
        if not archives:
            sys.exit(f"{dockerfile}: nothing to add for {source}")
        for archive in archives:
            print(f"tar -xzf {shlex.quote(str(archive))} -C \"$work/{system}{to}\"")
    elif instruction == "WORKDIR":
        print(f"mkdir -p \"$work/{system}{rest}\"; workdir={rest}")
    elif instruction == "ENTRYPOINT":
        print(f"entrypoint=({shlex.join(json.loads(rest))})")
    else:
        sys.exit(f"{dockerfile}: {instruction} is not known here")
