// The sessions at the side.
import { ago, el } from "./dom.js";

const side = document.getElementById("side");
const veil = document.getElementById("veil");
const list = document.getElementById("sessions");
const empty = document.getElementById("no-sessions");
const opener = document.getElementById("side-open");

function drawer(open) {
  side.classList.toggle("open", open);
  veil.hidden = !open;
  if (open) document.getElementById("side-close").focus();
}

opener.addEventListener("click", () => drawer(true));
document.getElementById("side-close").addEventListener("click", () => { drawer(false); opener.focus(); });
veil.addEventListener("click", () => drawer(false));
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && side.classList.contains("open")) { drawer(false); opener.focus(); }
});

export const closeDrawer = () => drawer(false);

// nameOf is what a session is called: what was asked for first. Where that is only a page to open, it is the page's
// title, or what was asked for there.
export function nameOf({ prompt = "", title }) {
  const only = /^(?:open|go to)\s+https?:\/\/[^\s,]*(?:,?\s*(?:and|then)?\s+|$)(.*)/is;
  const [opens, then = ""] = prompt.match(only) ?? [];
  return (opens ? title || then : prompt || title) || prompt || "Session";
}

function about(session, running) {
  const words = [running ? "working" : ago(session.last_used)];
  if (session.origin.kind === "terminal") words.push("terminal");
  if (session.origin.kind === "discord") words.push(["Discord", session.origin.user_name].filter(Boolean).join(", "));
  if (session.origin.private) words.push("private");
  if (session.state === "closed") words.push("closed");
  return words.join(" · ");
}

// drawSessions shows the sessions, newest first. running holds the ids of those
// that work; choose(id) is called when one is chosen.
export function drawSessions(sessions, current, running, choose) {
  const focused = document.activeElement?.closest?.(".session")?.dataset.id;
  list.replaceChildren(...sessions.map((session) => {
    const works = running.has(session.id);
    return el("li", {}, el("a", {
      class: "session", href: `/s/${encodeURIComponent(session.id)}`, "data-id": session.id, title: nameOf(session),
      "aria-current": session.id === current ? "page" : false,
      onclick: (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        choose(session.id);
      },
    }, el("strong", {}, nameOf(session)), el("small", {}, works ? el("span", { class: "dot running" }) : null, about(session, works))));
  }));
  empty.hidden = sessions.length > 0;
  if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
}
