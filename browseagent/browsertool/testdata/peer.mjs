// A client made with the protocol's own SDK for JavaScript. It talks to the
// server that argv names, and prints what it got as one line of JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [kind, target, modules] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));

const { Client } = await load("client/index.js");
let transport;
if (kind === "stdio") {
  const { StdioClientTransport } = await load("client/stdio.js");
  transport = new StdioClientTransport({ command: target, env: process.env });
} else {
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
  transport = new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: "Bearer secret" } } });
}
const client = new Client({ name: "peer", version: "1" });
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const got = {};
const { tools } = await client.listTools();
got.tools = tools.map((t) => t.name + ":" + t.inputSchema.type);
got.hints = tools.map(({ annotations: { title, ...hints } }) => hints);
got.instructions = tools.every((t) => client.getInstructions().includes(t.name + " "));
const { action, kind: acts } = tools[0].inputSchema.properties;
got.offered = ["cookies", "har", "tracestart", "tracestop"].every((a) => action.enum.includes(a)) &&
  ["back", "forward", "reload", "scroll", "drag", "dragCoords", "clickCoords"].every((a) => acts.enum.includes(a));
got.snapshot = (await call("browser", { action: "snapshot" })).content[0].text.includes("[ref=e1]");
const shot = await call("browser", { action: "screenshot" });
got.image = shot.content[1].type + " " + shot.content[1].mimeType + " " + Buffer.from(shot.content[1].data, "base64").length;
got.failed = (await call("browser", { action: "profiles" })).isError;
await call("browser", { action: "open", url: "http://x" });
got.steps = []; // from the transport: the client forgets who asked for progress when an answer follows at once
const receive = transport.onmessage;
transport.onmessage = (message, extra) => {
  if (message.method === "notifications/progress") got.steps.push(message.params.progress + " " + message.params.message);
  receive(message, extra);
};
const browse = await call("browser_browse", { query: "what?" }, { onprogress: () => {} });
transport.onmessage = receive;
got.browse = browse.content[0].text.includes("42");
const stop = new AbortController();
got.cancelled = await call("browser_browse", { query: "hang" }, { signal: stop.signal, onprogress: (p) => { got.progress = p.message; stop.abort("enough"); } })
  .then(() => "answered", () => "stopped");
got.after = (await call("browser", { action: "snapshot" })).isError === true;
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(got));
