// A bot of discord.js that tells of each message that it sees, in a line of JSON, until its input ends. Lines of its
// input are forms as a bot sends them, which it checks. Arguments: directory of the modules, base of the API, token.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [modules, api, token] = process.argv.slice(1);
const { Client, ComponentType, GatewayIntentBits, ModalBuilder } = createRequire(modules + "/node_modules/")("discord.js");
const tell = (event) => process.stdout.write(JSON.stringify(event) + "\n");
const all = (components) => components.flatMap((c) => [c, ...all(c.components ?? [])]);

const show = async (message) => {
  const files = await Promise.all(message.attachments.map(async ({ name, url }) => {
    const data = Buffer.from(await (await fetch(url)).arrayBuffer());
    return `${name} ${createHash("sha256").update(data).digest("hex")}`;
  }));
  const parts = all(message.components);
  tell({
    event: "message", text: message.content, files,
    buttons: parts.filter((c) => c.type === ComponentType.Button).map((c) => c.label),
    options: parts.filter((c) => c.type === ComponentType.StringSelect).flatMap((c) => c.options.map((o) => o.label)),
  });
};
const failed = (error) => tell({ event: "error", text: String(error) });

const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent], rest: { api },
});
client.on("messageCreate", (message) => show(message).catch(failed));
client.on("messageUpdate", (_, message) => show(message).catch(failed));
client.once("clientReady", () => {
  tell({ event: "ready" });
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    try {
      const form = new ModalBuilder(JSON.parse(line)).toJSON();
      tell({ event: "form", text: form.title, buttons: all(form.components).flatMap((c) => c.label ?? []) });
    } catch (error) {
      failed(error);
    }
  });
  input.on("close", () => client.destroy().then(() => process.exit(0)));
});
client.login(token).catch((error) => {
  failed(error);
  process.exit(1);
});
