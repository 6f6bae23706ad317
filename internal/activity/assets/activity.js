// The Activity: signs a person in with Discord and shows the session of the channel. Text is always set as text.
import { DiscordSDK } from "./sdk.js";
import { el } from "./elements.js";
import { Pane } from "./pane.js";

const $ = (id) => document.getElementById(id);
const proxy = ".proxy/"; // Discord passes on what is below it
const patience = 20_000, listEvery = 4000; // milliseconds

let sdk = null; // one for the whole life of the frame
let token = ""; // shows who the person is; it is kept nowhere else
let list = [], current = "", asked = "", stepsKey = "";

const pane = new Pane({ onState: (state) => drawSteps(state.task), again: begin });

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1).replace(/[.\s]*$/, ".")}`;

function message(state, head = "", text = "") {
  document.body.dataset.state = state;
  $("head").textContent = head;
  $("text").textContent = text;
  $("message").hidden = !head;
  $("again").hidden = state !== "failed";
}

async function ask(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const request = { headers, credentials: "omit", signal: AbortSignal.timeout(patience) };
  if (body) Object.assign(request, { method: "POST", body: JSON.stringify(body) });
  const response = await fetch(proxy + path, request);
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    throw Object.assign(new Error(answer?.error ?? `the answer was ${response.status}`), { status: response.status });
  }
  return answer;
}

const within = (promise, what) => Promise.race([
  promise, new Promise((_, refuse) => { setTimeout(() => refuse(new Error(what)), patience); }),
]);

async function signIn() {
  token = "";
  const { app, state, challenge } = await ask("begin", {});
  if (!sdk) {
    const fresh = new DiscordSDK(app, { disableConsoleLogOverride: true });
    await within(fresh.ready(), "Discord does not answer");
    sdk = fresh;
  }
  const { code } = await sdk.commands.authorize({
    client_id: app, response_type: "code", state, prompt: "none", scope: ["identify"],
    code_challenge: challenge, code_challenge_method: "S256",
  });
  const answer = await ask("signin", { state, code, instance: sdk.instanceId });
  await sdk.commands.authenticate({ access_token: answer.discord });
  token = answer.token;
}

async function begin() {
  current = "";
  pane.close();
  $("choice").closest("header").hidden = true;
  message("connecting", "One moment", "You are being signed in.");
  if (!new URLSearchParams(location.search).has("frame_id")) {
    return message("outside", "Open this in Discord", "clank runs here as an Activity: start it in a channel.");
  }
  try {
    await signIn();
    await refresh();
  } catch (error) {
    failed(error);
  }
}

function failed(error) {
  token = "";
  const text = error?.message || "Discord did not sign you in"; // its own errors are no Error
  message("failed", "You are not let in", sentence(text));
}

// refresh reads which sessions there are, and shows the one that was asked for, or the first.
async function refresh() {
  list = await ask("sessions");
  const wish = list.find((s) => s.asked)?.id ?? "";
  if (wish && wish !== asked) current = wish;
  asked = wish;
  if (!list.some((s) => s.id === current)) current = list[0]?.id ?? "";
  drawList();
}

function drawList() {
  const { root } = pane;
  $("choice").closest("header").hidden = !current;
  if (!current) {
    root.remove();
    pane.close();
    return message("empty", "No browser here yet", "Ask for something with /clank browse, and watch it here.");
  }
  const options = list.map((s) => {
    const name = s.title || "New page";
    return el("option", { value: s.id, selected: s.id === current }, s.mine ? name : `${name} (${s.owner})`);
  });
  const key = JSON.stringify([list, current]);
  if ($("choice").dataset.key !== key && document.activeElement !== $("choice")) {
    $("choice").dataset.key = key;
    $("choice").replaceChildren(...options);
  }
  message("work");
  if (!root.isConnected) document.querySelector("main").prepend(root);
  const path = `${proxy}live?session=${encodeURIComponent(current)}`;
  if (pane.path !== path) pane.open(path, token);
}

// drawSteps lists what the task has done, whenever that is more.
async function drawSteps(task) {
  const key = JSON.stringify([current, task]);
  if (key === stepsKey || !current) return;
  stepsKey = key;
  const steps = task ? await ask(`steps?session=${encodeURIComponent(current)}`).catch(() => null) : [];
  if (!steps || key !== stepsKey) return;
  const box = $("steps"), below = box.scrollHeight - box.scrollTop - box.clientHeight;
  box.firstElementChild.replaceChildren(...steps.map((s) =>
    el("li", { value: s.n, class: s.failed ? "failed" : s.done ? "done" : "runs" }, s.label)));
  if (below < 40) box.scrollTop = box.scrollHeight;
}

$("again").addEventListener("click", begin);
$("choice").addEventListener("change", () => {
  current = $("choice").value;
  stepsKey = "";
  drawList();
});
$("toggle").addEventListener("click", () => {
  const open = document.body.classList.toggle("steps");
  $("toggle").setAttribute("aria-expanded", String(open));
});
setInterval(() => {
  if (document.hidden || !token) return;
  refresh().catch((error) => { if ([401, 403].includes(error.status)) failed(error); });
}, listEvery);
begin();
