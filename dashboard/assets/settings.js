// The settings form: keeps what was typed until it is saved, sends only what
// was changed, and puts what the server says at the field it is about.
import { api } from "./api.js";

const form = document.getElementById("settings");
const bar = document.getElementById("save-bar");
const text = document.getElementById("save-text");
const save = document.getElementById("save");
export const fields = new Map([...form.querySelectorAll("[data-key]")].map((node) => [node.dataset.key, field(node)]));
export let version = form.dataset.version;

function field(node) {
  const input = node.querySelector("input, select, textarea");
  const kind = node.dataset.kind;
  return {
    node, input, kind,
    error: node.querySelector(".error"),
    reset: node.querySelector(".reset"),
    label: node.querySelector(".label").textContent,
    saved: node.dataset.value, // as JSON
    default: node.dataset.default,
  };
}

// valueOf is a field's value in the form it is stored in. What is not a number
// goes to the server as it was typed, which says what it wants.
function valueOf({ kind, input }) {
  if (kind === "toggle") return input.checked;
  if (input.multiple) return [...input.selectedOptions].map((o) => o.value).join(" ");
  if (kind !== "number" && kind !== "duration") return input.value;
  if (input.value.trim() === "") return "";
  const number = Number(input.value);
  return kind === "duration" ? Math.round(number * 1000) : number;
}

function put({ kind, input }, json) {
  const value = JSON.parse(json);
  if (kind === "toggle") input.checked = value;
  else if (input.multiple) for (const o of input.options) o.selected = value.split(" ").includes(o.value);
  else input.value = kind === "duration" ? value / 1000 : value;
}

const jsonOf = (f) => JSON.stringify(valueOf(f));
// Where several are chosen, their order means nothing.
const inOrder = (f, json) => (f.input.multiple ? JSON.stringify(JSON.parse(json).split(" ").sort()) : json);
const dirty = (f) => inOrder(f, jsonOf(f)) !== inOrder(f, f.saved);
const changed = () => [...fields.values()].filter(dirty);

function draw() {
  for (const f of fields.values()) {
    f.node.classList.toggle("dirty", dirty(f));
    f.node.classList.toggle("bad", Boolean(f.error.textContent));
    f.input.setAttribute("aria-invalid", String(Boolean(f.error.textContent)));
    f.reset.hidden = jsonOf(f) === f.default;
  }
}

function tell(message, bad = false) {
  text.textContent = message;
  bar.classList.toggle("bad", bad);
}

function drawBar() {
  const n = changed().length;
  bar.hidden = n === 0;
  save.disabled = false;
  tell(n === 1 ? "1 change is not saved." : `${n} changes are not saved.`);
}

function onInput(f) {
  doubt(false);
  f.error.textContent = "";
  draw();
  drawBar();
}

// take shows settings as they are on the server. What was typed and not saved
// stays; where somebody else changed the same, that is said.
export function take(view) {
  version = view.version;
  for (const s of view.settings) {
    const f = fields.get(s.key);
    if (!f) continue;
    const now = JSON.stringify(s.value);
    const touched = dirty(f);
    const theirs = now !== f.saved;
    f.saved = now;
    f.default = JSON.stringify(s.default);
    f.node.querySelector(".default").textContent = s.default_text ?? "";
    f.error.textContent = s.problem ?? "";
    if (!touched) put(f, now);
    else if (theirs && dirty(f)) f.error.textContent = `Somebody else set this to ${shown(f, s.value)} in the meantime. Save to keep yours.`;
  }
  const ways = form.querySelector(".ways");
  ways?.replaceChildren(...view.bindings.map((b) => Object.assign(document.createElement("li"), {
    textContent: `${b.problem ? b.problem : `${b.runtime}: ready with ${b.model}`}${b.chosen ? " (chosen)" : ""}`,
  })));
  draw();
}

export function shown(f, value) {
  if (f.kind === "toggle") return value ? "on" : "off";
  if (f.kind === "duration") return `${value / 1000} seconds`;
  if (f.input.multiple) return [...f.input.options].filter((o) => value.split(" ").includes(o.value)).map((o) => o.text).join(", ") || "empty";
  if (f.kind === "choice") return [...f.input.options].find((o) => o.value === value)?.text ?? value;
  return value === "" ? "empty" : String(value);
}

// anyway says that what was doubted is to be saved all the same.
let anyway = false;
function doubt(yes) {
  anyway = yes;
  save.textContent = yes ? "Save anyway" : "Save";
}

async function submit() {
  const list = changed();
  save.disabled = true;
  tell("Saving…");
  try {
    const now = await api("PUT", form.dataset.path, { version, check: !anyway, changes: Object.fromEntries(list.map((f) => [f.node.dataset.key, valueOf(f)])) });
    take(now);
    done(list);
  } catch (error) {
    refused(error);
  }
}

const answered = () => dispatchEvent(new Event("settings-answered"));

function done(list) {
  answered();
  doubt(false);
  drawPreset();
  if (changed().length > 0) return drawBar();
  tell(list.length === 1 ? `Saved: ${list[0].label}.` : `Saved: ${list.length} settings.`);
  save.disabled = true;
  setTimeout(() => { if (changed().length === 0) bar.hidden = true; }, 2500);
}

function refused(error) {
  save.disabled = false;
  if (error.body?.now) {
    take(error.body.now);
    if (changed().length === 0) return drawBar();
    return tell("Somebody else saved settings in the meantime. Theirs are shown, and what you typed is still here. Save again to keep yours.", true);
  }
  for (const { key, message } of error.body?.fields ?? []) {
    const f = fields.get(key);
    if (f) f.error.textContent = `This ${message}.`;
  }
  draw();
  answered();
  doubt(error.body?.code === "settings_doubtful");
  tell(anyway ? "Nothing was saved yet: the marked values do not work as things are." : error.body?.fields ? "Nothing was saved: look at the marked fields." : error.message, true);
  form.querySelector(".bad :is(input, select, textarea)")?.focus();
}

// follow takes over what was saved elsewhere while this page is open. What was
// typed here stays, and the bar says so.
async function follow() {
  if (document.hidden || save.disabled && !bar.hidden) return;
  const view = await api("GET", form.dataset.path).catch(() => null); // the next look tells
  if (!view || view.version === version) return;
  take(view);
  drawPreset();
  if (changed().length > 0) {
    drawBar();
    tell("Somebody else saved settings in the meantime. Theirs are shown, and what you typed is still here.", true);
  }
}

// drawPreset says what the preset that is chosen in the form would change.
let previews = 0;
async function drawPreset() {
  const f = fields.get("agentStack.preset");
  if (!f) return;
  const mark = ++previews;
  const note = f.node.querySelector(".preview");
  if (!dirty(f) || f.input.value === "") return note.replaceChildren();
  const preview = await api("GET", `/api/settings/presets/${encodeURIComponent(f.input.value)}`).catch(() => null);
  if (mark !== previews || !preview) return;
  const lines = preview.effects.map((e) => `${e.label}: ${e.kept ? `stays ${e.now || "empty"}, set by hand` : e.then || "empty"}`);
  note.replaceChildren(...[`Runtime: ${preview.preset.runtime}`, ...lines].map((line) => Object.assign(document.createElement("li"), { textContent: line })));
}

for (const f of fields.values()) {
  f.input.addEventListener("input", () => onInput(f));
  f.reset.addEventListener("click", () => { put(f, f.default); onInput(f); f.input.focus(); });
}
document.getElementById("discard").addEventListener("click", () => {
  for (const f of fields.values()) { put(f, f.saved); f.error.textContent = ""; }
  draw();
  drawBar();
});
// What has the focus is not below the bar, which is as high as its text is long.
form.addEventListener("focusin", ({ target }) => {
  if (bar.hidden || bar.contains(target)) return;
  const below = target.getBoundingClientRect().bottom + 12 - bar.getBoundingClientRect().top;
  if (below > 0) scrollBy({ top: below, behavior: "instant" });
});
form.addEventListener("submit", (event) => { event.preventDefault(); if (!save.disabled && changed().length) submit(); });
fields.get("agentStack.preset")?.input.addEventListener("input", drawPreset);
setInterval(follow, 10_000);
document.addEventListener("visibilitychange", follow);
addEventListener("beforeunload", (event) => { if (changed().length) event.preventDefault(); });
draw();

// The test of what links lead to, with the settings as they are saved.
document.getElementById("check-links")?.addEventListener("click", async (event) => {
  const result = document.getElementById("check-result");
  event.target.disabled = true;
  const item = (words) => Object.assign(document.createElement("li"), { textContent: words });
  try {
    const checks = await api("GET", "/api/links/check");
    result.replaceChildren(...checks.map((c) => item(`${c.ready ? "✓" : "–"} ${c.name}: ${c.detail}`)));
  } catch (error) {
    result.replaceChildren(item(error.message));
  }
  event.target.disabled = false;
});
