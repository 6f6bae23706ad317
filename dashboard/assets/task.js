// The page of a task: what was done, and what can be done with it.
import { api, follow, key, readPage, stream } from "./api.js";
import { el, picture, save } from "./dom.js";

const $ = (id) => document.getElementById(id);
const id = document.body.dataset.task;
const path = `/api/tasks/${encodeURIComponent(id)}`;
const problem = $("problem");
const say = (text) => { $("said").textContent = text; };

// act does something that a button asks for, and says what went wrong.
const act = (button, what) => button?.addEventListener("click", async () => {
  problem.textContent = "";
  button.disabled = true;
  await Promise.resolve(what()).catch((error) => { problem.textContent = error.message; });
  button.disabled = false;
});

// dress gives a part of the page its pictures and its times.
function dress(root) {
  for (const time of root.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  for (const thumb of root.querySelectorAll("[data-view]:empty")) thumb.append(picture(thumb.dataset.view, true, thumb.dataset.label));
}

// ---- What happens while the task runs

let reading = false, again = false;
async function refresh() {
  again = reading;
  if (reading) return;
  reading = true;
  try {
    const page = new DOMParser().parseFromString(await readPage(location.pathname), "text/html");
    if ("ended" in page.body.dataset) return location.reload();
    $("now").replaceChildren(...page.getElementById("now").children);
    const steps = [...page.getElementById("steps").children], shown = [...$("steps").children];
    steps.forEach((step, i) => {
      const before = shown[i]?.querySelector("[data-view] img");
      if (before && step.querySelector("[data-view]")) step.querySelector("[data-view]").append(before);
      for (const details of shown[i]?.querySelectorAll("details") ?? []) {
        const same = [...step.querySelectorAll("details")].find((d) => d.firstChild.textContent === details.firstChild.textContent);
        if (same) same.open = details.open;
      }
    });
    $("steps").replaceChildren(...steps);
    dress(document);
  } catch (error) {
    problem.textContent = error.message;
  }
  setTimeout(() => {
    reading = false;
    if (again) refresh();
  }, 150);
}

// ---- What can be done

act($("watch"), async () => {
  const { Pane } = await import("./pane.js"), { session } = $("watch").dataset;
  const pane = new Pane({ noNotes: true });
  $("live").replaceChildren(pane.root);
  $("live").hidden = false;
  $("watch").remove();
  pane.open(`/api/sessions/${encodeURIComponent(session)}/live`, key());
});
act($("stop"), () => api("POST", `${path}/stop`));
act($("retry"), async () => {
  const { task_id: started } = await api("POST", `${path}/retry`);
  location.assign(`/tasks/${encodeURIComponent(started)}`);
});
for (const button of document.querySelectorAll("[data-export]")) {
  const kind = button.dataset.export;
  button.addEventListener("click", () => save(`${path}/export/${kind}`, `task-${id}.${kind}`, button));
}
$("tell")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  try {
    await api("POST", `${path}/say`, { text: $("note").value });
    $("note").value = "";
    say("Passed on. It is heard before the next step.");
  } catch (error) {
    problem.textContent = error.message;
  }
});

$("script")?.addEventListener("click", () => $("script-ask").showModal());
$("script-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const wrong = event.target.querySelector(".error");
  wrong.textContent = "";
  try {
    const { name, notes = [] } = await api("POST", `${path}/script`, { name: new FormData(event.target).get("name") });
    $("script-ask").close();
    say([`Saved as the script ${name}.`, ...notes].join(" "));
  } catch (error) {
    wrong.textContent = error.message;
  }
});

// ---- Replay

$("replay")?.addEventListener("click", () => $("replay-ask").showModal());
$("replay-yes")?.addEventListener("click", async () => {
  $("replay-ask").close();
  $("replayed").hidden = false;
  const list = $("replayed").querySelector("ol"), text = $("replay-text");
  const leaving = new AbortController();
  const stop = el("button", { class: "ghost", type: "button", onclick: () => leaving.abort() }, "Stop");
  list.replaceChildren();
  text.replaceChildren("Replaying… ", stop);
  $("replay").disabled = true;
  let end = "";
  try {
    await stream(`${path}/replay`, (name, data) => {
      if (name === "step") list.append(played(data));
      else end = data.text ?? data.error;
    }, leaving.signal);
  } catch (error) {
    end = leaving.signal.aborted ? "Stopped." : error.message;
  }
  text.textContent = end || "The replay was cut off.";
  $("replay").disabled = false;
});

function played({ label, differences = [] }) {
  return el("li", {}, el("p", { class: differences.length ? "bad" : "" }, `${label}: ${differences.length ? "differs" : "as recorded"}`),
    ...differences.map((d) => el("p", { class: "quiet" }, `${d.kind}: was “${d.was}”, is “${d.is}”`)));
}

// ---- The page

const clock = (at) => new Date(at).toLocaleTimeString();
const lines = {
  console: ({ console: list }) => list.map((l) => el("li", { class: l.type === "error" ? "bad" : "" }, `${clock(l.at)} ${l.type} ${l.text} `, l.from ? el("span", { class: "quiet" }, l.from) : null)),
  network: ({ requests }) => requests.map((q) => el("li", { class: q.failure || q.status >= 400 ? "bad" : "" }, `${clock(q.at)} ${q.status ?? q.failure ?? "…"} ${q.method} ${q.url} `, el("span", { class: "quiet" }, q.type))),
};
for (const [name, draw] of Object.entries(lines)) {
  $(name)?.addEventListener("toggle", async ({ target }) => {
    if (!target.open) return;
    const list = target.querySelector("ul");
    try {
      const log = await api("GET", `${path}/page`);
      const items = draw(log);
      const none = log.open ? "Nothing while this task ran." : "The page has been closed. What it said is kept only while it is open.";
      list.replaceChildren(...(items.length ? items : [el("li", { class: "quiet" }, none)]));
    } catch (error) {
      list.replaceChildren(el("li", { class: "bad" }, error.message));
    }
  });
}

document.querySelectorAll("[data-close]").forEach((button) => button.addEventListener("click", () => button.closest("dialog").close()));
dress(document);
if (!("ended" in document.body.dataset)) follow(`${path}/events`, refresh, () => {});
