"""A server with one handler, resources/list, on the low-level API of MCP's SDK for Python.

It declares `resources`, yet answers -32601 to resources/templates/list. It runs on both major
versions of the SDK: 1.x speaks the legacy protocol, 2.x the modern one.
"""

import asyncio
from importlib.metadata import version

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

ONLY = {"uri": "low://only", "name": "only", "mimeType": "text/plain"}


def build() -> Server:
    if version("mcp").startswith("1."):
        from mcp import types

        server = Server("lowlevel", version="1.0.0")

        @server.list_resources()
        async def list_resources():
            return [types.Resource.model_validate(ONLY)]

        return server

    import mcp_types as types

    async def list_resources(context, params):
        return types.ListResourcesResult(resources=[types.Resource.model_validate(ONLY)])

    return Server("lowlevel", version="1.0.0", on_list_resources=list_resources)


async def main() -> None:
    server = build()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


asyncio.run(main())
