// A bot of discord.js in a call. Arguments: directory of the modules, base of the API, token, guild, channel. It writes a
// line of JSON for each event, says what a line on standard input gives in hex, a packet a word, and leaves at the end of it.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const [modules, api, token, guildId, channelId] = process.argv.slice(2);
const load = createRequire(modules + "/node_modules/");
const { Client, GatewayIntentBits } = load("discord.js");
const voice = load("@discordjs/voice");

const tell = (event, more = {}) => process.stdout.write(JSON.stringify({ event, ...more }) + "\n");
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates],
  rest: { api },
});
client.once("clientReady", async () => {
  const guild = await client.guilds.fetch(guildId);
  const call = voice.joinVoiceChannel({
    channelId, guildId, adapterCreator: guild.voiceAdapterCreator, selfDeaf: false, debug: process.env.PEER_DEBUG === "1",
  });
  call.on("error", (err) => tell("error", { text: String(err) }));
  call.on("debug", (text) => process.stderr.write(text + "\n"));
  call.on("stateChange", (_, now) => tell("state", { text: now.status }));
  call.receiver.speaking.on("start", (user) => {
    if (call.receiver.subscriptions.has(user)) return;
    const sound = call.receiver.subscribe(user, { end: { behavior: voice.EndBehaviorType.Manual } });
    sound.on("data", (packet) => tell("heard", { user, text: packet.toString("hex") }));
    sound.on("error", (err) => tell("error", { text: String(err) }));
  });
  const player = voice.createAudioPlayer();
  player.on("error", (err) => tell("error", { text: String(err) }));
  call.subscribe(player);
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    if (line === "code") {
      tell("code", { text: call.voicePrivacyCode ?? "" });
      return;
    }
    const packets = line.split(" ").map((hex) => Buffer.from(hex, "hex"));
    player.play(voice.createAudioResource(Readable.from(packets), { inputType: voice.StreamType.Opus }));
  });
  input.on("close", async () => {
    call.destroy();
    await client.destroy();
    tell("left");
    process.exit(0);
  });
});
client.login(token).catch((err) => {
  tell("error", { text: String(err) });
  process.exit(1);
});
