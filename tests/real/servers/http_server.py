"""A server over HTTP with one of each kind, on the high-level API of MCP's SDK for Python.

Its arguments are the transport (`streamable-http` or `sse`), the port, and any of `json` (answers
as bodies, not as streams) and `stateless` (no sessions). It runs on both major versions of the SDK:
1.x speaks the legacy protocol, 2.x the modern one too.
"""

import sys
from importlib.metadata import version

TRANSPORT, PORT, *FLAGS = sys.argv[1:]
OPTIONS = {"host": "127.0.0.1", "port": int(PORT)}
if TRANSPORT == "streamable-http":
    OPTIONS |= {"json_response": "json" in FLAGS, "stateless_http": "stateless" in FLAGS}

if version("mcp").startswith("1."):
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("notes", log_level="WARNING", **OPTIONS)
    OPTIONS = {}
else:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("notes", log_level="WARNING")


@server.resource("notes://today", name="today", mime_type="text/markdown")
def today() -> str:
    return "# Today\n\nNothing to do.\n"


@server.resource("notes://{day}/{topic}", name="note")
def note(day: str, topic: str) -> str:
    return f"{topic} on {day}"


@server.prompt()
def summarize(text: str) -> str:
    return f"Please summarize: {text}"


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


server.run(TRANSPORT, **OPTIONS)
