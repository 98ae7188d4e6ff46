"""mcpdeck serve, driven by the client of the official Python SDK.

    sdk.py MODE stdio COMMAND ARGS...
    sdk.py MODE http URL TOKEN

MODE is `legacy` or `auto`. Prints one JSON object.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from walk import answer, walk


class Walker:
    def __init__(self, client):
        self.client = client

    def version(self):
        return self.client.session.protocol_version

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        return answer(result, result.is_error, result.structured_content)

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def resources(self):
        return [str(item.uri) for item in (await self.client.list_resources()).resources]

    async def templates(self):
        listed = await self.client.list_resource_templates()
        return [item.uri_template for item in listed.resource_templates]

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text


async def main(mode, transport, target, *rest):
    if transport == "stdio":
        await show(Client(StdioServerParameters(command=target, args=list(rest)), mode=mode))
    else:
        headers = {"Authorization": f"Bearer {rest[0]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            await show(Client(streamable_http_client(target, http_client=http), mode=mode))


async def show(client):
    async with client:
        print(json.dumps(await walk(Walker(client))))


asyncio.run(main(*sys.argv[1:]))
