"""mcpdeck serve, driven by the client of fastmcp. Takes what sdk.py takes."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from walk import answer, walk


class Walker:
    def __init__(self, client):
        self.client = client

    def version(self):
        return self.client.protocol_version

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        return answer(result, result.is_error, result.structured_content)

    async def tools(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def resources(self):
        return [str(item.uri) for item in await self.client.list_resources()]

    async def templates(self):
        return [item.uri_template for item in await self.client.list_resource_templates()]

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text


async def main(mode, transport, target, *rest):
    if transport == "stdio":
        opened = StdioTransport(command=target, args=list(rest))
    else:
        opened = StreamableHttpTransport(target, auth=rest[0])
    async with Client(opened, mode=mode, timeout=30) as client:
        print(json.dumps(await walk(Walker(client))))


asyncio.run(main(*sys.argv[1:]))
