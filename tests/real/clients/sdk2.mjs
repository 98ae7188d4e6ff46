// mcpdeck serve, driven by version 2 of the official TypeScript SDK, in either era.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { run } from "./walk.mjs";

await run({
  stdio: (parameters) => new StdioClientTransport(parameters),
  http: (url, options) => new StreamableHTTPClientTransport(url, options),
  connect: async (mode, transport) => {
    const client = new Client({ name: "sdk2", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transport);
    return { client, version: () => client.getNegotiatedProtocolVersion?.() ?? null };
  },
});
