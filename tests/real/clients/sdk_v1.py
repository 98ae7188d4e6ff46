"""mcpdeck serve, driven by the client of version 1 of the official Python SDK, which knows the
legacy era. Takes what sdk.py takes."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from walk import answer, walk


class Walker:
    def __init__(self, session, version):
        self.session = session
        self.agreed = version

    def version(self):
        return self.agreed

    async def call(self, tool, arguments):
        result = await self.session.call_tool(tool, arguments)
        return answer(result, result.isError, result.structuredContent)

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def resources(self):
        return [str(item.uri) for item in (await self.session.list_resources()).resources]

    async def templates(self):
        listed = await self.session.list_resource_templates()
        return [item.uriTemplate for item in listed.resourceTemplates]

    async def read(self, uri):
        return (await self.session.read_resource(uri)).contents[0].text


async def main(_mode, transport, target, *rest):
    if transport == "stdio":
        opened = stdio_client(StdioServerParameters(command=target, args=list(rest)))
    else:
        headers = {"Authorization": f"Bearer {rest[0]}"}
        opened = streamablehttp_client(target, headers=headers)
    async with opened as streams, ClientSession(streams[0], streams[1]) as session:
        agreed = await session.initialize()
        print(json.dumps(await walk(Walker(session, agreed.protocolVersion))))


asyncio.run(main(*sys.argv[1:]))
