// What was changed and when, with a way back, and settings as a file.
import { api, load } from "./api.js";
import { el } from "./dom.js";
import { fields, shown, take, version } from "./settings.js";

const $ = (id) => document.getElementById(id);
const fail = (error) => {
  const about = error.body?.fields?.map(({ key, message }) => `${fields.get(key)?.label ?? key}: this ${message}.`) ?? [];
  $("history-error").textContent = [error.message, ...about].join(" ");
};

function valueText(key, value) {
  const f = fields.get(key);
  const text = value === null ? "default" : f ? shown(f, value) : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function row({ ts, metadata: { changes } }) {
  const what = Object.entries(changes).map(([key, { from, to }]) =>
    el("p", {}, `${fields.get(key)?.label ?? key}: ${valueText(key, from)} → ${valueText(key, to)}`));
  const undo = el("button", { class: "ghost", type: "button", onclick: async () => {
    undo.disabled = true;
    const back = Object.fromEntries(Object.entries(changes).map(([key, { from }]) => [key, from]));
    await api("PUT", "/api/settings", { version, changes: back }).then(changed, fail);
    undo.disabled = false;
  } }, "Undo");
  return el("li", {}, el("div", {}, ...what, el("time", { datetime: ts }, new Date(ts).toLocaleString())), undo);
}

async function draw() {
  try {
    const all = await api("GET", "/api/records?kind=settings_changed&limit=20");
    const records = (all ?? []).filter((r) => !r.guild_id); // what is set on one Discord server is undone there
    $("history").replaceChildren(...records.map(row));
    if (!records.length) $("history").append(el("li", { class: "quiet" }, "Nothing was changed yet."));
  } catch (error) {
    fail(error);
  }
}

function changed(view) {
  $("history-error").textContent = "";
  take(view);
  return draw();
}

$("export").addEventListener("click", async () => {
  try {
    const href = URL.createObjectURL(await load("/api/settings/export"));
    el("a", { href, download: "clank-settings.jsonc" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  } catch (error) {
    fail(error);
  }
});
$("import").addEventListener("click", () => $("import-file").click());
$("import-file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  target.value = ""; // the same file can be chosen once more
  if (!file) return;
  await file.text().then((text) => api("POST", "/api/settings/import", { text, version })).then(changed, fail);
});
addEventListener("settings-answered", draw);
draw();
