// A bot of discord.js in a call. Arguments: directory of the modules, base of the API, token, guild, channel. It writes a
// line of JSON for each event and leaves at the end of standard input, whose lines are commands:
//   code             tell the voice privacy code
//   say HEX HEX …    send these packets
//   tone HZ PACKETS  send so many packets of a tone
//   leave            leave the call
//   join CHANNEL     enter one
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const [modules, api, token, guildId, channelId] = process.argv.slice(2);
const load = createRequire(modules + "/node_modules/");
const { Client, GatewayIntentBits } = load("discord.js");
const voice = load("@discordjs/voice");
const OpusScript = load("opusscript");

const rate = 48000, size = 960, heardTogether = 10; // samples a second, samples of a packet, packets that a pitch is taken from
const tell = (event, more = {}) => process.stdout.write(JSON.stringify({ event, ...more }) + "\n");
const opus = () => new OpusScript(rate, 2, OpusScript.Application.AUDIO);

const tone = (hz, packets) => {
  const encoder = opus();
  const out = [];
  for (let i = 0; i < packets; i++) {
    const pcm = Buffer.alloc(size * 4);
    for (let n = 0; n < size; n++) {
      const v = Math.round(8000 * Math.sin((2 * Math.PI * hz * (i * size + n)) / rate));
      pcm.writeInt16LE(v, n * 4);
      pcm.writeInt16LE(v, n * 4 + 2);
    }
    out.push(Buffer.from(encoder.encode(pcm, size)));
  }
  encoder.delete();
  return out;
};

// pitchOf returns a function that takes packets and returns how often their sound rises through zero in a second, once it has enough.
const pitchOf = () => {
  const decoder = opus();
  let samples = [];
  return (packet) => {
    const pcm = decoder.decode(packet);
    for (let i = 0; i + 3 < pcm.length; i += 4) samples.push(pcm.readInt16LE(i));
    if (samples.length < size * heardTogether) return undefined;
    let rises = 0;
    for (let i = 1; i < samples.length; i++) if (samples[i - 1] < 0 && samples[i] >= 0) rises++;
    const hz = Math.round((rises * rate) / samples.length);
    samples = [];
    return hz;
  };
};

const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates],
  rest: { api },
});
const player = voice.createAudioPlayer();
player.on("error", (err) => tell("error", { text: String(err) }));
let call;

const hear = (user) => {
  const sound = call.receiver.subscribe(user, { end: { behavior: voice.EndBehaviorType.Manual } });
  const pitch = pitchOf();
  sound.on("data", (packet) => {
    tell("heard", { user, text: packet.toString("hex") });
    try {
      const hz = pitch(packet);
      if (hz !== undefined) tell("pitch", { user, hz });
    } catch (err) {
      tell("undecoded", { user, text: String(err) });
    }
  });
  sound.on("error", (err) => tell("error", { text: String(err) }));
};

const enter = (guild, channel) => {
  call = voice.joinVoiceChannel({
    channelId: channel, guildId, adapterCreator: guild.voiceAdapterCreator, selfDeaf: false, debug: process.env.PEER_DEBUG === "1",
  });
  const { receiver } = call;
  call.on("error", (err) => tell("error", { text: String(err) }));
  call.on("debug", (text) => process.stderr.write(text + "\n"));
  call.on("stateChange", (_, now) => tell("state", { text: now.status }));
  receiver.speaking.on("start", (user) => {
    if (!receiver.subscriptions.has(user)) hear(user);
  });
  call.subscribe(player);
};

const play = (packets) => {
  player.play(voice.createAudioResource(Readable.from(packets), { inputType: voice.StreamType.Opus }));
};

client.once("clientReady", async () => {
  const guild = await client.guilds.fetch(guildId);
  enter(guild, channelId);
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    const [command, ...words] = line.split(" ");
    if (command === "code") tell("code", { text: call.voicePrivacyCode ?? "" });
    else if (command === "say") play(words.map((hex) => Buffer.from(hex, "hex")));
    else if (command === "tone") play(tone(Number(words[0]), Number(words[1])));
    else if (command === "leave") call.destroy();
    else if (command === "join") enter(guild, words[0]);
    else tell("error", { text: "unknown command: " + line });
  });
  input.on("close", async () => {
    if (call.state.status !== voice.VoiceConnectionStatus.Destroyed) call.destroy();
    await client.destroy();
    tell("left");
    process.exit(0);
  });
});
client.login(token).catch((err) => {
  tell("error", { text: String(err) });
  process.exit(1);
});
