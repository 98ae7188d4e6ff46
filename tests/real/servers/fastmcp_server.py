"""A server with one of each kind, written with fastmcp."""

from fastmcp import FastMCP

server = FastMCP("notes", version="1.0.0")


@server.resource("notes://today", name="today", mime_type="text/markdown")
def today() -> str:
    return "# Today\n\nNothing to do.\n"


@server.resource("notes://{day}/{topic}", name="note")
def note(day: str, topic: str) -> str:
    return f"{topic} on {day}"


@server.prompt
def summarize(text: str) -> str:
    return f"Please summarize: {text}"


@server.tool
def add(a: int, b: int) -> int:
    return a + b


if __name__ == "__main__":
    server.run(show_banner=False)
