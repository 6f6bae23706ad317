// The dialog that makes links to sessions, and shows who watches with them.
import { api } from "./api.js";
import { ago, el } from "./dom.js";
import { nameOf } from "./sidebar.js";

const dialog = document.getElementById("links");
const form = document.getElementById("link-form");
const list = document.getElementById("link-list");
const text = document.getElementById("link-text");

const failed = (error) => text.replaceChildren(error.message);

// showLinks opens the dialog. The sessions come in the order in which they were used, the last one first.
export function showLinks(sessions, current) {
  const open = sessions.filter((s) => s.state !== "closed" && !s.origin.private);
  form.elements.session.replaceChildren(...open.map((s) => {
    const name = `${nameOf(s).slice(0, 60)} · ${ago(s.last_used)}`;
    return el("option", { value: s.id, selected: s.id === current }, name);
  }));
  text.textContent = "";
  dialog.showModal();
  draw().catch(failed);
}

// places names each address once from which people watch, with the number of windows there.
function places(viewers) {
  const windows = new Map();
  for (const { from } of viewers) windows.set(from, (windows.get(from) ?? 0) + 1);
  return [...windows].map(([from, n]) => n > 1 ? `${from} (${n} windows)` : from).join(", ");
}

async function draw() {
  const links = await api("GET", "/api/links");
  list.replaceChildren(...links.map((link) => {
    const words = [
      link.title || link.session, link.control ? "to use" : "to watch",
      ...link.user ? [`for ${link.name || `Discord user ${link.user}`}`] : [], `made by ${link.by}`,
      `until ${new Date(link.until).toLocaleTimeString([], { timeStyle: "short" })}`,
      link.viewers.length ? `watched from ${places(link.viewers)}` : "nobody is watching",
    ];
    return el("li", {}, el("span", {}, words.join(" · ")), el("button", {
      class: "ghost", type: "button",
      onclick: () => api("POST", `/api/links/revoke?link=${encodeURIComponent(link.id)}`).then(draw).catch(failed),
    }, "Revoke"));
  }));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { session, seconds, control, user } = form.elements;
  try {
    const wanted = {
      session: session.value, seconds: Number(seconds.value), control: control.checked, user: user.value.trim(),
    };
    const link = await api("POST", "/api/links", wanted);
    text.replaceChildren(el("input", { readonly: true, value: link.url, "aria-label": "The link" }));
    text.firstElementChild.select();
    await draw();
  } catch (error) {
    failed(error);
  }
});
