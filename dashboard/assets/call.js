// The page of calls: joins, shows what is said and shared, mutes, stops, leaves.
import { api } from "./api.js";
import { el, linked, picture } from "./dom.js";
import { connect, microphone, watchLevel } from "./callmedia.js";

const $ = (id) => document.getElementById(id);
const lines = 200; // that are kept
const tries = [1000, 2000, 4000, 8000]; // milliseconds before each try to come back

let mic = null; // the MediaStream of the microphone; null: only listening
let link = null; // the connection, see connect
let levels = {}; // what ends the watching of levels: of mic and sound
let muted = false;
let round = 0; // what belongs to an earlier connection must not do anything any more

// key makes this browser the same person when it comes again.
function key() {
  let k = localStorage.getItem("call-key");
  if (!k) {
    k = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    localStorage.setItem("call-key", k);
  }
  return k;
}

function state(name, text) {
  document.body.dataset.state = name;
  $("lobby").hidden = name !== "out";
  $("room").hidden = name === "out";
  $("state").textContent = text ?? "";
}

async function join(withMicrophone) {
  const error = $("join-error");
  error.textContent = "";
  localStorage.setItem("call-name", $("name").value.trim());
  for (const button of [$("join"), $("join-quiet")]) button.disabled = true;
  try {
    mic = withMicrophone ? await microphone() : null;
    $("log").replaceChildren();
    $("status").textContent = "";
    setMuted(false);
    $("mute").hidden = $("mute-key").hidden = $("level").parentElement.hidden = !mic;
    if (mic) watch("mic", mic, (v) => { $("level").style.transform = `scaleX(${muted ? 0 : v})`; });
    state("joining", "Connecting…");
    await open();
    $(mic ? "mute" : "stop").focus();
  } catch (e) {
    out();
    error.textContent = e.message;
    $("join").focus();
  } finally {
    for (const button of [$("join"), $("join-quiet")]) button.disabled = false;
  }
}

// open makes the connection, for the first time or again.
async function open() {
  const mine = ++round;
  const info = await api("GET", "/api/call/");
  const join = (sdp) => api("POST", "/api/call/join", { sdp, name: $("name").value.trim(), key: key() });
  const made = await connect({
    servers: info.ice_servers ?? [], mic, join,
    tell: (message) => mine === round && hear(message),
    track: (kind, stream) => mine === round && receive(kind, stream),
    lost: () => mine === round && comeBack(0),
  });
  if (mine !== round) {
    made.close();
    return;
  }
  link = made;
  link.say({ type: "mute", on: muted });
  state("in", mic ? "Say what should be done." : "You are listening only.");
}

async function comeBack(attempt) {
  const mine = ++round;
  link?.close();
  link = null;
  if (attempt >= tries.length) {
    out();
    $("join-error").textContent = "The connection to the call was lost.";
    return;
  }
  state("joining", "Connection lost. Trying again…");
  hideShared();
  await new Promise((resolve) => setTimeout(resolve, tries[attempt]));
  if (mine !== round) return;
  try {
    await open();
  } catch {
    if (document.body.dataset.state !== "out") comeBack(attempt + 1);
  }
}

function hideShared() {
  $("shared").hidden = $("sharing").hidden = true;
  $("share").textContent = "Show browser";
}

// out ends everything and shows the lobby.
function out() {
  round++;
  link?.close();
  link = null;
  for (const end of Object.values(levels)) end();
  levels = {};
  for (const track of mic?.getTracks() ?? []) track.stop();
  mic = null;
  $("sound").srcObject = $("shared").srcObject = null;
  hideShared();
  delete document.body.dataset.speaks;
  state("out");
  present();
}

function leave() {
  link?.say({ type: "leave" });
  out();
  $("join").focus();
}

// stop takes the shortest way there is.
async function stop() {
  if (link?.say({ type: "stop" })) return;
  try {
    await api("POST", "/api/call/stop", { name: $("name").value.trim(), key: key() });
  } catch (e) {
    $("status").textContent = e.message;
  }
}

function setMuted(on) {
  muted = on;
  for (const track of mic?.getAudioTracks() ?? []) track.enabled = !on;
  $("mute").setAttribute("aria-pressed", on);
  $("mute").textContent = on ? "Unmute" : "Mute";
  link?.say({ type: "mute", on });
}

function watch(which, stream, tell) {
  levels[which]?.();
  levels[which] = watchLevel(stream, tell);
}

function receive(kind, stream) {
  if (kind === "video") {
    $("shared").srcObject = stream;
    return;
  }
  $("sound").srcObject = stream;
  $("sound").play().catch(() => {
    $("status").textContent = "The browser plays no sound until something on this page is clicked.";
    addEventListener("click", () => {
      $("status").textContent = "";
      $("sound").play().catch(() => {}); // it has just been clicked
    }, { once: true });
  });
  watch("sound", stream, (v) => document.body.toggleAttribute("data-speaks", v > 0.02));
}

// hear shows what the call tells.
function hear(message) {
  const { type, text = "", from = "" } = message;
  switch (type) {
    case "people": {
      const names = (message.people ?? []).map((p) => p.name);
      $("people").textContent = `In the call: ${["clank", ...names].join(", ")}`;
      break;
    }
    case "status":
      $("status").textContent = text;
      break;
    case "share":
      hideShared();
      $("shared").hidden = $("sharing").hidden = !message.on;
      $("share").textContent = message.on ? "Hide browser" : "Show browser";
      $("sharing").textContent = text ? `clank shows: ${text}` : "clank shows its browser.";
      break;
    case "ended":
      out();
      $("join-error").textContent = text;
      break;
    case "said":
    case "heard":
    case "notice":
    case "chat":
      line(type, type === "heard" ? from : type === "notice" ? "" : "clank", text, message.images ?? [], message.alts ?? []);
      break;
  }
}

// follow shows the end of what was said, unless somebody reads further up.
let pinned = true;
function follow() {
  if (pinned) $("log").scrollTop = $("log").scrollHeight;
}

function line(kind, who, text, images, alts) {
  const log = $("log");
  const last = log.lastElementChild;
  if (kind === "said" && last?.className === "said") {
    last.append(" ", ...linked(text));
  } else {
    log.append(el("li", { class: kind }, who ? el("span", { class: "who" }, who) : null, ...linked(text),
      ...images.filter((name) => /^pictures\/\d+$/.test(name)).map((name, i) => picture(`/api/call/${name}`, false, alts[i]))));
  }
  while (log.children.length > lines) log.firstElementChild.remove();
  for (const image of log.lastElementChild.querySelectorAll("img")) image.addEventListener("load", follow, { once: true });
  follow();
}

// present shows in the lobby who is in the call.
async function present() {
  try {
    const { people } = await api("GET", "/api/call/");
    $("present").hidden = people.length === 0;
    $("present").textContent = `In the call now: ${people.join(", ")}`;
  } catch {
    $("present").hidden = true; // joining says what is wrong
  }
}

$("join-form").addEventListener("submit", (event) => {
  event.preventDefault();
  join(true);
});
$("join-quiet").addEventListener("click", () => join(false));
$("mute").addEventListener("click", () => setMuted(!muted));
$("stop").addEventListener("click", stop);
$("share").addEventListener("click", () => link?.say({ type: "share", on: $("shared").hidden }));
$("leave").addEventListener("click", leave);
$("log").addEventListener("scroll", ({ target }) => { pinned = target.scrollTop + target.clientHeight >= target.scrollHeight - 40; });
new ResizeObserver(follow).observe($("log"));
addEventListener("keydown", (event) => {
  if (document.body.dataset.state === "out" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest?.("input, textarea, select")) return;
  const key = event.key.toLowerCase();
  if (key === "m" && mic) setMuted(!muted);
  if (key === "s") stop();
});
addEventListener("pagehide", () => link?.close());
addEventListener("pageshow", (event) => event.persisted && out());
$("name").value = localStorage.getItem("call-name") ?? "";
present();
