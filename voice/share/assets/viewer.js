// Shows a share: over WebRTC, or where that does not come about, over a WebSocket.
import { watchRTC } from "./rtc.js";
import { watchSocket } from "./socket.js";

const $ = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const asked = "clank-sign-in"; // where the page keeps what it asked Discord for
const browser = ownSecret();
let view = null; // what runs now: { close() }
let round = 0; // tries that were given up must not show anything any more

function message(state, head, text, again = false) {
  document.body.dataset.state = state;
  $("head").textContent = head;
  $("text").textContent = text;
  $("message").hidden = false;
  $("again").hidden = !again;
  $("video").hidden = $("canvas").hidden = $("full").hidden = true;
  $("way").hidden = true;
}

function shows(element, way) {
  document.body.dataset.state = "live";
  document.body.dataset.way = way;
  $("message").hidden = true;
  $("video").hidden = element !== $("video");
  $("canvas").hidden = element !== $("canvas");
  $("way").textContent = "Live";
  $("way").title = `Pictures come over ${way}`;
  $("way").hidden = false;
  $("full").hidden = !document.fullscreenEnabled;
}

function gone(text) {
  const seen = document.body.dataset.state === "live";
  if (seen) message("ended", "Nothing more to see here", sentence(text || "the share has ended"));
  else message("gone", "This link does not work", sentence(text || "the share may have ended: ask for a new link"));
}

// ownSecret tells this browser from others: a link to a session belongs to the one that opens it first.
function ownSecret() {
  const fresh = crypto.getRandomValues(new Uint32Array(4)).join("-");
  try {
    const kept = localStorage.getItem("clank-browser") ?? fresh;
    localStorage.setItem("clank-browser", kept);
    return kept;
  } catch {
    return fresh; // nothing is kept here: the link is good until the page is left
  }
}

class Refused extends Error {
  constructor(status, text, signIn) {
    super(text);
    this.status = status;
    this.signIn = signIn;
  }
}

async function post(path, body, link = token) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, credentials: "omit",
    body: JSON.stringify({ token: link, browser, ...body }), signal: AbortSignal.timeout(10_000),
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    throw new Refused(response.status, answer?.error ?? `The answer was ${response.status}.`, answer?.sign_in);
  }
  return answer;
}

// begin begins to watch; after a view that was lost, a moment later.
async function begin() {
  const mine = ++round;
  const old = view;
  view = null;
  old?.close();
  if (!token) {
    gone("A part of it is missing: use the whole link, with everything after the #");
    return;
  }
  try {
    const info = await post("check", {});
    if (mine !== round) return;
    $("title").textContent = info.title || "Shared browser";
    const over = (ended, text) => {
      if (mine !== round) return;
      if (ended) {
        round++;
        view?.close();
        gone(text);
      } else {
        lost();
      }
    };
    if (info.control) {
      await work();
      return;
    }
    const live = (element, way) => mine === round && shows(element, way);
    const next = info.webrtc ? await watchRTC($("video"), info, post, live, over) : null;
    if (mine !== round) {
      next?.close(); // the view that is there is another round's
      return;
    }
    view = next ?? watchSocket($("canvas"), { token, browser }, live, over);
  } catch (error) {
    if (mine !== round) return;
    if (error.status === 404) gone(error.message);
    else if (error.signIn) askToSignIn(error.signIn);
    else if (error instanceof Refused) message("failed", "It cannot be shown now", sentence(error.message), true);
    else lost();
  }
}

// askToSignIn leads to Discord, which leads back to finishSignIn: only the tab that went there knows the state.
function askToSignIn(address) {
  message("sign-in", "This link is for one person", "Sign in with Discord to show that it is you.", true);
  $("again").textContent = "Sign in with Discord";
  $("again").onclick = () => {
    sessionStorage.setItem(asked, JSON.stringify({ link: token, state: new URL(address).searchParams.get("state") }));
    location.assign(address);
  };
}

// finishSignIn takes what Discord has sent back, and goes on to the link.
async function finishSignIn() {
  const back = new URLSearchParams(location.search);
  const { link, state } = JSON.parse(sessionStorage.getItem(asked) ?? "{}");
  sessionStorage.removeItem(asked);
  history.replaceState(null, "", location.pathname);
  if (!link || back.get("state") !== state) {
    gone("this sign-in was not begun in this tab: open the link again");
    return;
  }
  const again = () => location.replace(`./#${link}`);
  try {
    if (!back.get("code")) throw new Error("Discord did not sign you in");
    await post("signin", { state, code: back.get("code") }, link);
    again();
  } catch (error) {
    message("failed", "You are not let in", sentence(error.message), true);
    $("again").onclick = again;
  }
}

// work shows the live pane, for who may work the page.
async function work() {
  const { Pane } = await import("./pane.js");
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("pane.css", import.meta.url) });
  document.head.append(style);
  const pane = new Pane();
  $("stage").replaceChildren(pane.root);
  document.body.dataset.state = "work";
  pane.open("live", `${token}~${browser}`);
  view = pane;
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1).replace(/[.\s]*$/, ".")}`;

let waits = 1000;
function lost() {
  const mine = ++round;
  view?.close();
  view = null;
  const live = document.body.dataset.state === "live";
  if (live) waits = 1000;
  $("way").textContent = "Connection lost. Trying again…";
  $("way").classList.add("still");
  if (!live) message("connecting", "The connection is lost", "Trying again…");
  setTimeout(() => {
    if (mine !== round) return;
    $("way").classList.remove("still");
    begin();
  }, waits);
  waits = Math.min(waits * 2, 15_000);
}

$("again").onclick = () => {
  message("connecting", "One moment", "The shared page is being fetched.");
  begin();
};
$("full").addEventListener("click", () => $("stage").requestFullscreen());
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", () => view?.close());
addEventListener("pageshow", (event) => event.persisted && begin());
if (location.pathname.endsWith("/signed-in")) finishSignIn();
else begin();
