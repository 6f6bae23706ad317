// The page of activity: fetches its list anew when something changes, shows steps as they come, and stops tasks.
import { api, follow, readPage } from "./api.js";
import { picture } from "./dom.js";

const list = document.getElementById("tasks");
const problem = document.getElementById("problem");
const still = "still" in list.dataset; // tasks of the past do not change
let sources = new Map(); // by task id: the HTML that its row was made of
let fetching = false, again = false;

const rowOf = (id) => list.querySelector(`[data-id="${CSS.escape(id)}"]`);

// dress gives a row its picture and its times. The picture that is there already stays.
function dress(row, was) {
  for (const time of row.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const thumb = row.querySelector("[data-view]");
  if (!thumb) return;
  const before = was?.querySelector("[data-view]");
  if (before?.firstChild && before.dataset.view === thumb.dataset.view) thumb.replaceWith(before);
  else thumb.append(picture(thumb.dataset.view, true));
}

function take(rows) {
  const next = new Map();
  const nodes = rows.map((row) => {
    const { id } = row.dataset, source = row.outerHTML, was = id && rowOf(id);
    next.set(id, source);
    if (was && sources.get(id) === source) return was;
    const focused = was?.contains(document.activeElement) && document.activeElement.matches("a.label") ? "a.label" : "";
    dress(row, was);
    if (focused) queueMicrotask(() => row.querySelector(focused)?.focus());
    return row;
  });
  sources = next;
  list.replaceChildren(...nodes);
}

// refresh reads the list anew; what happens meanwhile is read once more.
async function refresh() {
  again = fetching;
  if (fetching) return;
  fetching = true;
  try {
    const page = new DOMParser().parseFromString(await readPage(location.pathname + location.search), "text/html");
    take([...page.getElementById("tasks").children]);
    problem.textContent = "";
  } catch (error) {
    problem.textContent = error.message;
  }
  setTimeout(() => {
    fetching = false;
    if (again) refresh();
  }, 150);
}

function onStep({ task_id: id, step }) {
  const what = rowOf(id)?.querySelector("[data-step]");
  if (!what) return refresh();
  what.textContent = step.label;
  if (step.view) refresh();
}

list.addEventListener("click", async (event) => {
  const id = event.target.closest("[data-stop]")?.dataset.stop;
  if (!id) return;
  event.target.disabled = true;
  await api("POST", `/api/tasks/${encodeURIComponent(id)}/stop`).catch((error) => { problem.textContent = error.message; });
});
document.querySelector("[data-back]")?.addEventListener("click", () => history.back());
document.getElementById("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = [...new FormData(event.target)].filter(([, value]) => value);
  location.assign(`/activity?${new URLSearchParams(chosen)}`);
});

take([...list.children].map((row) => document.importNode(row, true)));
const handlers = { snapshot: refresh, task: refresh, step: onStep };
if (!still) follow("/api/events?all=1", (name, data) => handlers[name]?.(data), () => {});
