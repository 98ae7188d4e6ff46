// mcpdeck serve, driven by version 1 of the official TypeScript SDK, which knows the legacy era.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { run } from "./walk.mjs";

await run({
  stdio: (parameters) => new StdioClientTransport(parameters),
  http: (url, options) => new StreamableHTTPClientTransport(url, options),
  connect: async (_mode, transport) => {
    const client = new Client({ name: "sdk1", version: "1" });
    let agreed = null;
    const set = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => {
      agreed = version;
      set?.(version);
    };
    await client.connect(transport);
    return { client, version: () => agreed };
  },
});
