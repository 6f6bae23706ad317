// Serves scripted models on a free port: says its address on the first line, and ends with its input.
const { LLMock } = await import(process.argv[1]);

const mock = new LLMock({ port: 0 });
mock.onToolResult("call_shop", { content: "It sells lamps." });
mock.onMessage("hello", { content: "Good morning, Ada." });
mock.onMessage("open the shop", {
  content: "I will open it.",
  toolCalls: [{ id: "call_shop", name: "browser_open", arguments: { url: "https://shop.test/" } }],
});
await mock.start();
console.log(mock.url);

process.stdin.on("data", async (line) => {
  const order = line.toString().trim();
  if (order === "limit") mock.nextRequestError(429, { message: "slow down", type: "rate_limit_error" });
  if (order === "break") mock.setChaos({ disconnectRate: 1 });
  if (order === "mend") mock.clearChaos();
  console.log(order);
});
process.stdin.on("end", async () => {
  await mock.stop();
  process.exit(0);
});
