"""The walk that every Python client takes over mcpdeck serve; it returns what it saw."""

NATIVE = "mcpdeck://demo/r/demo%3A%2F%2Fwelcome"
FILLED = "mcpdeck://demo/t/demo://squares?from=2&to=3"


async def walk(client):
    """`client` has the methods of mcp.Client; fastmcp's is wrapped to have them too."""
    templates = await client.call("list_mcp_resource_templates", {})
    unknown = await client.call("list_mcp_resources", {"server": "nobody"})
    servers = await client.call("list_mcp_servers", {})
    read = await client.call("read_mcp_resource", {"server": "demo", "uri": "demo://welcome"})
    return {
        "version": client.version(),
        "tools": await client.tools(),
        "templates": templates,
        "unknown": unknown,
        "servers": servers,
        "read": read,
        "resources": await client.resources(),
        "resourceTemplates": await client.templates(),
        "native": await client.read(NATIVE),
        "filled": await client.read(FILLED),
    }


def answer(result, is_error, structured):
    """What matters of the result of a tool."""
    return {
        "isError": bool(is_error),
        "text": [block.text for block in result.content],
        "structured": structured,
    }
