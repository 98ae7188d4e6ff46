#!/usr/bin/env python3
r"""Finds the functions that run when mcpdeck starts, and writes `startup.ld` from them.

A system maps 64 KiB of a program around each page that is touched. The functions of a start are a
tenth of the program; scattered over it, they have nearly all of it mapped. `startup.ld` names them
to the linker, which puts them side by side. A name that is gone does no harm, and one that is
missing costs 64 KiB. After larger changes of what a start does, of the compiler, the profile or
`Cargo.lock` it is worth running again, in the root of the repository:

    RUSTFLAGS="-C link-arg=-Wl,-Map=$PWD/target/layout.map" \
        cargo build --release --bin mcpdeck --target-dir target/layout
    python3 linker/measure.py target/layout/release/mcpdeck target/layout.map

It needs `valgrind`.
"""

import bisect
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

# Names the instance of a function; it depends on the compiler and on where the source is from.
HASH = re.compile(r"17h[0-9a-f]{16}E(\.llvm\.\d+)?$")
SCRIPT = Path(__file__).with_name("startup.ld")

# What the server of old lists.
LISTS = {
    "resources/list": ("resources", {"uri": "note:///one", "name": "one", "size": 3}),
    "resources/templates/list": (
        "resourceTemplates",
        {"uriTemplate": "note:///{name}", "name": "any"},
    ),
    "tools/list": ("tools", {"name": "add", "inputSchema": {"type": "object"}}),
    "prompts/list": ("prompts", {"name": "greet"}),
}


def serve():
    """A server of the years before `server/discover`; the demo server is one of today."""
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"resources": {}, "tools": {}, "prompts": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }
        elif method in LISTS:
            kind, item = LISTS[method]
            answer["result"] = {kind: [item]}
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(answer), flush=True)


def sections(layout):
    """What the linker has put where: start addresses in order, and (start, end, section) of each."""
    found = []
    for line in Path(layout).read_text().splitlines():
        if ":(.text." not in line:
            continue
        address, _, size, _, place = line.split(None, 4)
        start = int(address, 16)
        found.append((start, start + int(size, 16), place[place.index(":(") + 2 : -1]))
    found.sort()
    return [start for start, _, _ in found], found


def profiled(program, home, arguments):
    """Runs the program below valgrind, and returns the addresses of what it executed."""
    profile = Path(home, "profile")
    command = [
        "valgrind",
        "--tool=callgrind",
        "--dump-instr=yes",
        f"--callgrind-out-file={profile}",
        program,
        *arguments,
    ]
    lines_and_columns = struct.pack("HHHH", 36, 120, 0, 0)
    environment = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color"}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home)
        os.execvpe(command[0], command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, lines_and_columns)
    quit_at = time.monotonic() + 30
    while True:
        wait = quit_at - time.monotonic()
        if wait <= 0:
            # A deck has shown its server long since; what ends by itself has ended.
            os.write(terminal, b"q")
            quit_at = time.monotonic() + 30
            continue
        if not select.select([terminal], [], [], wait)[0]:
            continue
        try:
            if not os.read(terminal, 65536):
                break
        except OSError:
            break
    os.waitpid(child, 0)
    return addresses(profile.read_text(), program)


def addresses(profile, program):
    """The addresses in a profile of callgrind that belong to the program."""
    ours = re.search(rf"^c?ob=(\(\d+\)) {re.escape(program)}$", profile, re.MULTILINE)[1]
    at, found, is_ours = 0, set(), False
    for line in profile.splitlines():
        if line.startswith("ob="):
            is_ours = line[3:].split(" ")[0] == ours
        elif match := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) ", line):
            cost = match[1]
            if cost.startswith("0x"):
                at = int(cost, 16)
            elif cost != "*":
                at += int(cost)
            if is_ours:
                found.add(at)
    return found


def main():
    program = str(Path(sys.argv[1]).resolve())
    starts, functions = sections(sys.argv[2])
    groups = {}
    with tempfile.TemporaryDirectory() as home:
        demo = [program, "demo-server"]
        old = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        config = Path(home, ".config/mcpdeck/config.toml")
        config.parent.mkdir(parents=True)
        config.write_text(
            "".join(
                f"[servers.{name}]\ncommand = {command[0]!r}\nargs = {command[1:]!r}\n"
                for name, command in [("demo", demo), ("old", old)]
            )
        )
        one_shot = ["list", "templates", "--json"]
        for title, runs in [
            ("a one-shot command", [one_shot, [*one_shot, "--", *demo], [*one_shot, "--", *old]]),
            ("the deck until it is idle", [[], ["--", *demo], ["--", *old]]),
        ]:
            executed = set()
            for address in set().union(*(profiled(program, home, run) for run in runs)):
                start, end, section = functions[bisect.bisect_right(starts, address) - 1]
                if start <= address < end:
                    executed.add(section)
            groups[title] = executed
            print(f"{title}: {len(executed)} functions")
    known = set()
    with SCRIPT.open("w") as script:
        script.write("/* Written by measure.py: what runs at a start, side by side. */\n")
        script.write("SECTIONS {\n  .text.startup : {\n")
        for kind, pattern in [
            ("as built from this repository", lambda section: section),
            ("as built elsewhere", lambda section: HASH.sub("17h*", section)),
        ]:
            for title, executed in groups.items():
                patterns = {pattern(section) for section in executed} - known
                known |= patterns
                script.write(f"    /* {title}, {kind} */\n")
                script.writelines(f"    *({section})\n" for section in sorted(patterns))
        script.write("  }\n}\nINSERT BEFORE .text;\n")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
