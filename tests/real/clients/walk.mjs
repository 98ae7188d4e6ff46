// The walk that every TypeScript client takes over mcpdeck serve; it returns what it saw.

const NATIVE = "mcpdeck://demo/r/demo%3A%2F%2Fwelcome";
const FILLED = "mcpdeck://demo/t/demo://squares?from=2&to=3";

export async function walk(client, version) {
  // The output schemas are known before the calls, so that their results are validated.
  const { tools } = await client.listTools();
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    return {
      isError: Boolean(result.isError),
      text: result.content.map((block) => block.text),
      structured: result.structuredContent ?? null,
    };
  };
  const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  return {
    version,
    tools: tools.map((tool) => tool.name),
    templates: await call("list_mcp_resource_templates", {}),
    unknown: await call("list_mcp_resources", { server: "nobody" }),
    servers: await call("list_mcp_servers", {}),
    read: await call("read_mcp_resource", { server: "demo", uri: "demo://welcome" }),
    resources: resources.map((item) => item.uri),
    resourceTemplates: resourceTemplates.map((item) => item.uriTemplate),
    native: await read(NATIVE),
    filled: await read(FILLED),
  };
}

/** `MODE stdio COMMAND ARGS...` or `MODE http URL TOKEN`, MODE being `legacy` or `auto`. */
export async function run({ stdio, http, connect }) {
  const [mode, transport, target, ...rest] = process.argv.slice(2);
  const opened =
    transport === "stdio"
      ? stdio({ command: target, args: rest, env: process.env })
      : http(new URL(target), {
          requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
        });
  const { client, version } = await connect(mode, opened);
  console.log(JSON.stringify(await walk(client, version(client, opened))));
  await client.close();
}
