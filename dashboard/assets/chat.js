// The chat page: what is shown, what is sent, and the stream that keeps both
// true. The address says which session is shown: /s/<id>, or / for a new one.
import { api, follow } from "./api.js";
import { anyAttached, putBack, takeAttached, takeFiles, whenSent } from "./attach.js";
import { retryPictures } from "./dom.js";
import { showLinks } from "./links.js";
import { renew, takeOver, watch } from "./live.js";
import { answered, ask, askAll, entitle, onTakeOver } from "./questions.js";
import { closeDrawer, drawSessions, nameOf } from "./sidebar.js";
import { Talk } from "./talk.js";
import { final, Turn } from "./turn.js";
import { show } from "./viewer.js";

const $ = (id) => document.getElementById(id);
const thread = $("thread"), scroll = $("scroll"), prompt = $("prompt"), send = $("send"), hint = $("hint"), hintText = $("hint-text");
const perPage = 20;
const { member } = document.body.dataset; // their account; "" = the operator
const place = document.querySelector("[name=place]"); // where a member asks
const secret = $("private");
let wantsSecret = false; // what was chosen for new sessions

let sessions = [], settled = ""; // "read" or "failed", once it is known which sessions there are, or that this is not to be had
let current = ""; // id of the session that is shown; "" = a new one
let turns = new Map(); // by task id: what is shown
let active = new Map(); // by task id: the session of each task that waits or runs, shown or not
let posting = Promise.resolve(); // messages are sent one after the other
let loads = 0;

// ---- Drawing

const atEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
const toEnd = () => { scroll.scrollTop = scroll.scrollHeight; };

// keeping runs a change and stays at the end of the conversation if it was there.
function keeping(change) {
  const stay = atEnd();
  change();
  if (stay) toEnd();
}

function draw() {
  const session = sessions.find((s) => s.id === current);
  $("title").textContent = session ? nameOf(session) : turns.size ? [...turns.values()][0].task.prompt : "New session";
  entitle(session || turns.size ? `${$("title").textContent} · clank` : "clank");
  drawWhere(session);
  watch(session);
  $("close-session").hidden = session ? session.state === "closed" : settled === "read" || !current;
  $("share").hidden = Boolean(member) || $("close-session").hidden || Boolean(session?.origin.private);
  if (place) place.closest("p").hidden = goesOn(session);
  drawSecret(session);
  $("whom").hidden = current !== "";
  $("talk").hidden = !talks();
  document.querySelector(".choices").hidden = talks(); // they are for the browser agent
  $("welcome").hidden = turns.size > 0 || current !== "" || !settled || talks() && !talk.empty;
  drawSessions(sessions, current, new Set(active.values()), choose);
  drawSend();
}

// talks says whether what is sent next is said to the assistant.
const talks = () => current === "" && $("composer").elements.whom.value === "assistant";

// goesOn says whether what is sent next goes on with the session that is shown.
const goesOn = (session) => current !== "" && session?.state !== "closed";

// drawSecret shows whether the next task is private: a session stays as it began, and some servers keep all private.
function drawSecret(session) {
  const must = place?.selectedOptions[0]?.matches("[data-private]");
  secret.disabled = goesOn(session) || Boolean(must);
  secret.checked = goesOn(session) ? Boolean(session?.origin.private) : must || wantsSecret;
  $("is-private").hidden = !secret.checked;
  if (place) $("seen-by").textContent = secret.checked ? "Only you see it." : "Whoever reads the channel sees it.";
}

function drawWhere(session) {
  const where = $("where");
  where.replaceChildren();
  if (session?.state === "closed") where.textContent = "Closed. What you write next begins a new session.";
  else if (session?.url && URL.canParse(session.url)) {
    const url = new URL(session.url);
    if (!/^https?:$/.test(url.protocol)) return;
    const link = document.createElement("a");
    Object.assign(link, { href: session.url, target: "_blank", rel: "noopener noreferrer" });
    link.textContent = [session.title, url.host].filter(Boolean).join(" · ");
    where.append(link);
  }
}

const running = () => [...turns.values()].filter((turn) => turn.running);
const usual = prompt.placeholder;

// chosen are the options that were set for the next tasks.
function chosen() {
  const set = [...$("composer").querySelectorAll(".chosen :is(input, select)")]
    .filter((input) => !input.disabled && (input.type === "checkbox" ? input.checked : input.value.trim()));
  return Object.fromEntries(set.map((input) => [input.name, input.type === "checkbox" ? true : input.type === "number" ? Number(input.value) : input.value.trim()]));
}

function drawSend() {
  const works = talks() ? talk.running : running().length > 0;
  const stops = works && prompt.value.trim() === "";
  prompt.placeholder = talks() ? "Say something" : works ? "Tell the running task" : usual;
  send.classList.toggle("stops", stops);
  send.setAttribute("aria-label", stops ? "Stop" : "Send");
  send.disabled = !stops && prompt.value.trim() === "";
}

let hintTimer;
function say(text, bad = false) {
  clearTimeout(hintTimer);
  hint.classList.toggle("bad", bad);
  hintText.textContent = text;
  hintText.hidden = !text;
  $("hint-usual").hidden = Boolean(text);
  if (text) $("live").textContent = text;
  if (text && !bad) hintTimer = setTimeout(() => say(""), 6000);
}

function grow() {
  prompt.style.height = "auto";
  prompt.style.height = `${prompt.scrollHeight}px`;
  drawSend();
}

// ---- Conversation

const hooks = { stop: stopTask, show, member };
const talk = new Talk($("talk"), { ...hooks, changed: () => keeping(draw), tell: say, answer: speak });

function turnOf(task) {
  let turn = turns.get(task.id);
  if (!turn) {
    turn = new Turn(task, hooks);
    turns.set(task.id, turn);
    const later = [...turns.values()].filter((t) => t.task.asked > task.asked).sort((a, b) => a.task.asked < b.task.asked ? -1 : 1)[0];
    thread.insertBefore(turn.root, later?.root ?? null);
  }
  return turn;
}

function take({ task, steps }) {
  const turn = turnOf(task);
  for (const step of steps ?? []) turn.setStep(step);
  turn.setTask(task);
  return turn;
}

// load reads a page of the conversation: the newest, or what came before.
async function load(before) {
  const mark = ++loads;
  const session = current;
  if (!session) return;
  const query = new URLSearchParams({ session, steps: "1", limit: String(perPage) });
  if (before) query.set("before", before);
  const views = await api("GET", `/api/tasks?${query}`);
  if (mark !== loads || session !== current) return;
  const height = scroll.scrollHeight;
  const fresh = turns.size === 0;
  for (const view of views) {
    const known = turns.has(view.task.id);
    const turn = take(view);
    if (!known) turn.open(turn.running || (!before && view === views[0]));
  }
  $("earlier").hidden = views.length < perPage;
  draw();
  if (before) scroll.scrollTop += scroll.scrollHeight - height;
  else if (fresh) toEnd();
}

async function choose(id, remember = true) {
  if (remember && (id !== current || turns.size)) history.pushState(null, "", id ? `/s/${encodeURIComponent(id)}` : "/");
  current = id;
  turns = new Map();
  thread.replaceChildren();
  $("earlier").hidden = true;
  say("");
  closeDrawer();
  draw();
  if (matchMedia("(hover: hover)").matches) prompt.focus();
  await load().catch((error) => say(error.message, true));
}

const fromAddress = () => decodeURIComponent(location.pathname.match(/^\/s\/([^/]+)$/)?.[1] ?? "");

// ---- Sending and stopping

function submit() {
  const text = prompt.value.trim();
  if (talks()) return speak(text);
  if (!text) return stopAll(running());
  const attached = takeAttached();
  prompt.value = "";
  grow();
  say("");
  posting = posting.then(() => post(text, attached)).catch((error) => {
    putBack(attached);
    if (!prompt.value) prompt.value = text; // nothing that was typed is lost
    grow();
    say(error.message, true);
  });
}

// speak says something to the assistant; nothing stops it.
function speak(text) {
  if (!text) return talk.stop();
  if (anyAttached()) return say("The assistant takes no files: ask the browser agent, or remove them.", true);
  const { place: at, private: alone } = chosen();
  prompt.value = "";
  grow();
  say("");
  talk.say(text, { place: at, private: alone });
}

// tell says something to the task that runs in this session, and reports whether
// there was one that could hear it.
async function tell(text) {
  const turn = running()[0];
  if (!turn) return false;
  try {
    const answer = await api("POST", `/api/tasks/${encodeURIComponent(turn.task.id)}/say`, { text });
    say(answer.stopped ? (answer.stopped.length ? "Stopped." : "Nothing is running right now.") : "Passed on. It is heard before the next step.");
    return true;
  } catch (error) {
    if (error.status === 404) return false; // it has just ended: what was typed is the next task
    throw error;
  }
}

async function post(text, attached) {
  const files = await whenSent(attached);
  if (!files.length && await tell(text)) return; // files come with a task of their own
  const from = current;
  const session = sessions.find((s) => s.id === current);
  const answer = await api("POST", "/api/tasks", { ...chosen(), prompt: text, typed: true, files: files.map((f) => f.id), session_id: session?.state === "closed" ? "" : current });
  if (answer.stopped) return say(answer.stopped.length ? "Stopped." : "Nothing is running right now.");
  if (from !== current) return refresh(); // another session was chosen meanwhile: stay there
  if (session?.state === "closed") await choose("");
  active.set(answer.task_id, answer.session_id);
  if (!sessions.some((s) => s.id === answer.session_id)) {
    sessions.unshift({ id: answer.session_id, prompt: text, state: "running", origin: { kind: "dashboard", private: secret.checked }, last_used: new Date().toISOString() });
  }
  adopt(answer.session_id);
  turnOf({ id: answer.task_id, session_id: answer.session_id, prompt: text, files, state: answer.state, position: answer.position, asked: new Date().toISOString() });
  draw();
  toEnd();
  refresh();
  const view = await api("GET", `/api/tasks/${encodeURIComponent(answer.task_id)}`).catch(() => null); // the stream tells it too
  if (view && final(view.task.state)) active.delete(answer.task_id); // the stream may have told its end before the answer came
  if (view && turns.has(answer.task_id)) keeping(() => take(view));
  draw();
}

// adopt makes the new session of what was sent from here the current one.
function adopt(sessionID) {
  if (current === sessionID) return;
  current = sessionID;
  history.replaceState(null, "", `/s/${encodeURIComponent(sessionID)}`);
}

async function stopTask(id) {
  try {
    await api("POST", `/api/tasks/${encodeURIComponent(id)}/stop`);
  } catch (error) {
    say(error.message, true);
    const turn = turns.get(id);
    if (turn) turn.stop.disabled = false;
  }
}

const stopAll = (list) => Promise.all(list.map((turn) => stopTask(turn.task.id)));

// ---- The stream

// own leaves out sessions that others began.
const own = (list) => list.filter(({ origin }) => !member || origin.user === member);

let refreshing;
function refresh() {
  clearTimeout(refreshing);
  refreshing = setTimeout(async () => {
    try {
      sessions = own(await api("GET", "/api/sessions"));
      draw();
    } catch { /* the stream tells when clank is gone */ }
  }, 150);
}

function onTask(task) {
  const ended = final(task.state);
  const fresh = !ended && !active.has(task.id);
  if (ended) active.delete(task.id);
  else active.set(task.id, task.session_id);
  talk.setTask(task);
  if (turns.has(task.id) || (current && task.session_id === current)) {
    keeping(() => turnOf(task).setTask(task));
    giveBack(task);
    if (ended || fresh) $("live").textContent = turns.get(task.id).status()[0];
  }
  if (ended || fresh) refresh();
  draw();
}

// giveBack returns what was typed for a task that ended without hearing it. What one that is done did not hear is the next.
const given = new Set();
function giveBack({ id, state, late }) {
  if (!final(state) || !late?.length || given.has(id) || ["done", "limited"].includes(state)) return;
  given.add(id);
  prompt.value = [prompt.value, ...late].filter(Boolean).join("\n");
  grow();
  say("The task ended before it heard this. Send it again if you still want it.");
}

function onStep({ task_id: id, step }) {
  talk.setStep(id, step);
  const turn = turns.get(id);
  if (!turn) return;
  keeping(() => turn.setStep(step));
  if (step.kind === "act" && step.phase === "begun") $("live").textContent = step.label;
}

function onSnapshot(snapshot) {
  sessions = own(snapshot.sessions);
  settled = "read";
  renew();
  retryPictures();
  askAll(snapshot.questions);
  active = new Map(snapshot.tasks.map((view) => [view.task.id, view.task.session_id]));
  draw();
  load().catch((error) => say(error.message, true));
}

const handlers = {
  snapshot: onSnapshot,
  task: onTask,
  step: onStep,
  question: (event) => (event.over ? answered(event) : ask(event.question)),
};

let lost;
function onConnection(there) {
  clearTimeout(lost);
  if (there) $("offline").hidden = true;
  else {
    lost = setTimeout(() => { $("offline").hidden = false; }, 1000);
    settled ||= "failed";
    draw();
  }
}

// ---- Events of the page

$("composer").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
prompt.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (prompt.value.trim()) submit();
});
prompt.addEventListener("input", grow);
if (!member) takeFiles(document.querySelector("main"), $("composer"), say);
if (place) {
  const asked = "clank-place";
  if (place.querySelector(`[value="${CSS.escape(localStorage.getItem(asked) ?? "")}"]`)) place.value = localStorage.getItem(asked);
  place.addEventListener("change", () => { localStorage.setItem(asked, place.value); draw(); });
}
secret.addEventListener("change", () => { wantsSecret = secret.checked; draw(); });
$("new").addEventListener("click", () => {
  if (current === "" && !talk.running) talk.clear(); // a new conversation
  choose("");
});
for (const whom of $("composer").elements.whom) {
  if (whom.value === localStorage.getItem("clank-whom") && !whom.disabled) whom.checked = true;
  whom.addEventListener("change", () => { localStorage.setItem("clank-whom", whom.value); draw(); });
}
$("earlier").addEventListener("click", () => {
  const oldest = [...turns.values()].map((t) => t.task.asked).sort()[0];
  load(oldest).catch((error) => say(error.message, true));
});
document.querySelectorAll(".example").forEach((button) => button.addEventListener("click", () => {
  prompt.value = button.dataset.prompt;
  grow();
  prompt.focus();
}));
document.querySelectorAll("[data-close]").forEach((button) => button.addEventListener("click", () => button.closest("dialog").close()));
$("share").addEventListener("click", () => showLinks(sessions, current));
$("close-session").addEventListener("click", () => $("confirm").showModal());
$("confirm-yes").addEventListener("click", async () => {
  $("confirm").close();
  try {
    await api("POST", `/api/sessions/${encodeURIComponent(current)}/close`);
    refresh();
  } catch (error) {
    say(error.message, true);
  }
});
addEventListener("popstate", () => choose(fromAddress(), false));
setInterval(draw, 60_000); // the times at the side

onTakeOver((session) => {
  choose(session);
  takeOver();
});
choose(fromAddress(), false);
follow("/api/events", (name, data) => handlers[name]?.(data), onConnection);
