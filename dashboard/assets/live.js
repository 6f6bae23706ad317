// The live pane beside the conversation. Whether it is open is remembered; where there is room, it is at first.
import { key } from "./api.js";
import { Pane } from "./pane.js";

const box = document.getElementById("pane-box"), toggle = document.getElementById("pane-toggle");
const wantedName = "clank-live", roomy = matchMedia("(min-width: 1180px)");
let pane; // made when it is first wanted
let session = ""; // that can be watched
let shown = "";

function draw() {
  const wanted = (localStorage.getItem(wantedName) ?? String(roomy.matches)) === "true";
  const next = wanted ? session : "";
  toggle.hidden = !session;
  toggle.setAttribute("aria-expanded", String(Boolean(next)));
  box.hidden = !next;
  if (next === shown) return;
  shown = next;
  if (!pane) box.append((pane = new Pane({ noNotes: true })).root);
  pane.open(next && `/api/sessions/${encodeURIComponent(next)}/live`, key());
}

toggle?.addEventListener("click", () => {
  localStorage.setItem(wantedName, String(box.hidden));
  draw();
});

// takeOver opens the pane of the session that is watched and asks for its page.
export function takeOver() {
  if (!session) return;
  localStorage.setItem(wantedName, "true");
  draw();
  pane.takeSoon();
}

// renew opens a view that has ended once more, as after a restart of clank.
export function renew() {
  if (pane?.over) shown = "";
}

// watch shows the page of a session that is open, or nothing.
export function watch(wanted) {
  if (!box) return;
  session = wanted && wanted.state !== "closed" ? wanted.id : "";
  draw();
}
