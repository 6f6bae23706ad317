// The setup page: keeps keys, chooses and tests the model, connects to Discord, and starts a first task.
import { api } from "./api.js";
import { el } from "./dom.js";

const $ = (id) => document.getElementById(id);
const keys = {
  agent: "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model",
  assistant: "interaction.brain.model",
  address: "agentStack.runtimeConfig.models.compatibleBaseUrl",
};

// attempt does something that a button asks for, and says in a place how that went.
async function attempt(button, place, before, what) {
  button.disabled = true;
  place.textContent = before;
  place.textContent = await what().catch((error) => error.message);
  button.disabled = false;
}

$("again").addEventListener("click", () => location.reload());
const testModel = () => api("POST", "/api/setup/model").then(({ text }) => text);
$("test-model")?.addEventListener("click", ({ currentTarget }) => attempt(currentTarget, $("model-result"), "Asking the model…", testModel));

$("test-voice")?.addEventListener("click", async ({ currentTarget: button }) => {
  const place = $("voice-result");
  let checks = [];
  await attempt(button, place, "Speaking and listening…", async () => {
    checks = await api("POST", "/api/setup/voice");
    return "";
  });
  if (checks.length) {
    place.replaceChildren(el("ul", { class: "voice-checks" }, ...checks.map(({ name, ok, text }) =>
      el("li", { class: ok ? "" : "bad" }, el("strong", {}, `${ok ? "✓" : "✗"} ${name}`), ` ${text}`))));
  }
});

const form = $("model-form");

// draw shows what the chosen provider needs.
function draw() {
  const { value, selectedOptions: [{ dataset }] } = form.elements.provider;
  form.querySelector("[data-address]").hidden = value !== "compatible";
  form.elements.key.placeholder = "present" in dataset ? "is there already" : value === "compatible" ? "only if it needs one" : "";
  $("models").replaceChildren();
  $("models-found").textContent = "";
}

const change = async (changes) => {
  const { version } = await api("GET", "/api/settings");
  await api("PUT", "/api/settings", { changes, version });
};

// keep keeps what the provider needs.
async function keep() {
  const { provider, key, address } = form.elements;
  const { dataset } = provider.selectedOptions[0];
  if (provider.value === "compatible") await change({ [keys.address]: address.value.trim() });
  if (!key.value) return;
  await api("POST", "/api/setup/key", { name: dataset.key, value: key.value });
  key.value = "";
  dataset.present = "";
  draw();
}

async function list() {
  await keep();
  const names = await api("GET", `/api/setup/models?${new URLSearchParams({ provider: form.elements.provider.value })}`);
  $("models").replaceChildren(...names.map((name) => el("option", { value: name })));
  if (!form.elements.model.value && names.length) [form.elements.model.value] = names;
  return names.length === 1 ? "1 model was found." : `${names.length} models were found. Choose one, or write another.`;
}

async function choose() {
  await keep();
  const name = `${form.elements.provider.value}:${form.elements.model.value.trim()}`;
  await change({ [keys.agent]: name, [keys.assistant]: name });
  const said = await testModel();
  sessionStorage.setItem("setup-said", said);
  location.reload();
  return said;
}

if (form) {
  form.elements.provider.addEventListener("change", () => { form.elements.model.value = ""; draw(); });
  $("list-models").addEventListener("click", ({ currentTarget }) => attempt(currentTarget, $("models-found"), "Asking for the models…", list));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(event.submitter, $("models-found"), "Asking the model…", choose);
  });
  draw();
}
const said = sessionStorage.getItem("setup-said");
sessionStorage.removeItem("setup-said");
if (said && $("model-result")) $("model-result").textContent = said;

$("discord-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(event.submitter, event.target.querySelector("[role=status]"), "Asking Discord…", async () => {
    await api("POST", "/api/setup/key", { name: "DISCORD_TOKEN", value: event.target.elements.token.value });
    location.reload();
    return "Discord accepts the token.";
  });
});

$("first").addEventListener("submit", async (event) => {
  event.preventDefault();
  event.submitter.disabled = true;
  try {
    const { session_id: session } = await api("POST", "/api/tasks", { prompt: $("first-task").value, typed: true });
    location.assign(`/s/${encodeURIComponent(session)}`);
  } catch (error) {
    event.target.querySelector(".error").textContent = error.message;
    event.submitter.disabled = false;
  }
});
