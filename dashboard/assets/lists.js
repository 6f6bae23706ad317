// What the buttons and forms of lists do: they ask where that is wanted, send, and load the page anew.
import { api, readPage } from "./api.js";
import { el, save } from "./dom.js";

const problem = document.getElementById("problem"), done = document.getElementById("done"), list = document.getElementById("list");
const told = "clank-done"; // what the page says once it is loaded anew

// agrees asks whether it is meant. The dialog keeps the focus, and gives it back.
function agrees({ ask, more = "", yes = "Yes" }) {
  return new Promise((answer) => {
    const dialog = el("dialog", { class: "confirm", "aria-labelledby": "ask-title", "aria-describedby": "ask-more" },
      el("h2", { id: "ask-title" }, ask), el("p", { id: "ask-more" }, more),
      el("div", { class: "row" },
        el("button", { type: "button", class: "ghost", onclick: () => dialog.close() }, "Cancel"),
        el("button", { type: "button", class: "primary", onclick: () => dialog.close("yes") }, yes)));
    dialog.addEventListener("close", () => { dialog.remove(); answer(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

async function send(node, button, body) {
  const { send: path, ask, done: text } = node.dataset;
  if (ask && !(await agrees(node.dataset))) return;
  problem.textContent = done.textContent = "";
  button.disabled = true;
  try {
    const answer = await api("POST", path, body);
    if (answer?.session_id) return location.assign(`/s/${encodeURIComponent(answer.session_id)}`);
    if (text) sessionStorage.setItem(told, text);
    location.reload();
  } catch (error) {
    button.disabled = false;
    problem.textContent = error.message;
    problem.scrollIntoView({ block: "nearest" });
  }
}

document.querySelector("main").addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-send]");
  const wanted = target.closest("button[data-save]");
  if (wanted) save(wanted.dataset.save, wanted.dataset.as, wanted);
  if (button) send(button, button, JSON.parse(button.dataset.body ?? "{}"));
});
document.querySelector("main").addEventListener("submit", (event) => {
  event.preventDefault();
  const { find } = event.target.dataset;
  if (find) return location.assign(`${find}?${new URLSearchParams(new FormData(event.target))}`);
  send(event.target, event.submitter, Object.fromEntries(new FormData(event.target)));
});

// refresh shows what has changed, unless somebody is about to do something here.
async function refresh() {
  if (document.hidden || list.contains(document.activeElement) || list.querySelector("details[open]") || document.querySelector("dialog[open]")) return;
  const page = await readPage(location.pathname + location.search).catch(() => ""); // the next look tells
  const now = new DOMParser().parseFromString(page, "text/html").getElementById("list");
  if (now && now.innerHTML !== shown) {
    shown = now.innerHTML;
    list.replaceChildren(...document.importNode(now, true).children);
    times();
  }
}

const times = () => {
  for (const time of document.querySelectorAll("time")) {
    const form = time.closest(".said") ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
    time.textContent = new Date(time.dateTime).toLocaleString([], form);
  }
};

const notify = document.querySelector("[data-notify]");
if (notify && globalThis.Notification?.permission === "default") {
  notify.hidden = false;
  notify.addEventListener("click", async () => { notify.hidden = (await Notification.requestPermission()) !== "default"; });
}

let shown = list?.innerHTML;
if (list && "refresh" in list.dataset) setInterval(refresh, 5000);
done.textContent = sessionStorage.getItem(told) ?? "";
sessionStorage.removeItem(told);
times();
