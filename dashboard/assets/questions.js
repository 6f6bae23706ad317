// Questions that people are asked before something is done: one card for each, until it is answered here or elsewhere,
// or its time is over. Meanwhile the title of the page counts them.
import { api } from "./api.js";
import { el } from "./dom.js";

const box = document.getElementById("questions"), live = document.getElementById("ask-live");
const lasting = new Set(["host", "leave", "submit", "send"]);
const doors = { discord: "Asked for in Discord", terminal: "Asked for in a terminal", dashboard: "Asked for here" };
const cards = new Map(); // by id: { root, timer, answering }

let takesOver = () => {};

// onTakeOver sets what is done when somebody here says that they will work the page of a session themselves.
export const onTakeOver = (handle) => { takesOver = handle; };

// entitle sets the title of the page, behind how many questions wait.
export function entitle(text = document.title.replace(/^\(\d+\) /, "")) {
  document.title = cards.size ? `(${cards.size}) ${text}` : text;
}

// notify tells of a question on the desktop, where the page is out of sight and may do so.
function notify(id, text) {
  if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
  const note = new Notification("clank asks", { body: text, tag: id }); // one, however many pages are open
  note.addEventListener("click", () => { focus(); note.close(); });
}

function leave(id) {
  const card = cards.get(id);
  if (!card) return;
  clearInterval(card.timer);
  cards.delete(id);
  const had = card.answering || card.root.contains(document.activeElement); // a button that is switched off has lost it
  card.root.remove();
  box.hidden = cards.size === 0;
  entitle();
  if (had) (box.querySelector("button") ?? document.getElementById("prompt"))?.focus();
}

// askAll shows the questions that wait, and no others.
export function askAll(questions = []) {
  for (const id of [...cards.keys()]) if (!questions.some((q) => q.id === id)) leave(id);
  questions.forEach(ask);
}

// wordsForm is where a question of a model is answered: with one of its choices, or other words.
function wordsForm({ choices = [] }, id, say) {
  const box = el("input", { "aria-labelledby": `${id}-text`, maxlength: 4000, autocomplete: "off", required: true, placeholder: "Your answer (no passwords)" });
  return el("form", { class: "words", onsubmit: (event) => { event.preventDefault(); say(true, false, box.value); } },
    ...choices.map((c) => el("button", { type: "button", class: "ghost", onclick: () => say(true, false, c) }, c)),
    box, el("button", { class: "primary" }, "Answer"));
}

export function ask(question) {
  if (cards.has(question.id)) return;
  const left = el("span", { class: "left", "aria-hidden": "true" });
  const wrong = el("p", { class: "reason bad", role: "alert", hidden: true });
  const say = async (allow, forSession = false, text = "") => {
    cards.get(question.id).answering = true;
    for (const b of root.querySelectorAll("button")) b.disabled = true;
    try {
      await api("POST", `/api/questions/${encodeURIComponent(question.id)}`, { allow, for_session: forSession, text });
      leave(question.id);
      if (allow && question.class === "takeover") takesOver(question.session);
    } catch (error) {
      if (error.status === 409) return leave(question.id);
      wrong.textContent = error.message;
      wrong.hidden = false;
      for (const b of root.querySelectorAll("button")) b.disabled = false;
    }
  };
  const button = (text, style, ...answer) => el("button", { type: "button", class: style, onclick: () => say(...answer) }, text);
  const who = [doors[question.door], question.user_name].filter(Boolean).join(" by ");
  const id = `question-${question.id}`, hands = question.class === "takeover"; // a person's are asked for
  const others = question.private && !question.session; // a private task of somebody else: what it is about is not told
  const words = question.class === "answer" && !others, asks = words ? `The model asks: ${question.detail}` : `${question.text}?`;
  const root = el("div", { class: "question", role: "group", "aria-labelledby": `${id}-text`, "aria-describedby": `${id}-more` },
    el("p", { class: "text", id: `${id}-text` }, asks),
    el("div", { id: `${id}-more` },
      question.detail && !words
        ? el("p", { class: "detail" }, hands ? "The model's note: " : "The page calls it: ", el("q", {}, question.detail)) : null,
      who ? el("p", { class: "who" }, who) : null,
      others ? el("p", { class: "who" }, "Only the person who asked can allow it.") : null),
    words ? wordsForm(question, id, say) : null,
    el("div", { class: "row" },
      button(words ? "No answer" : "No", "ghost", false), others || words ? null : button(hands ? "I will" : "Allow", "primary", true),
      lasting.has(question.class) && question.session ? button("Allow for this session", "ghost", true, true) : null, left),
    wrong);
  const until = new Date(question.until).getTime();
  const tick = () => {
    const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
    left.textContent = `${seconds} s left`;
    if (seconds === 0) clearInterval(cards.get(question.id)?.timer);
  };
  cards.set(question.id, { root, timer: setInterval(tick, 1000) });
  tick();
  box.append(root);
  box.hidden = false;
  entitle();
  notify(question.id, asks);
  live.textContent = words ? asks : `${asks} Without an answer it is not done.`;
}

// answered takes a question away, and says how it ended. A no of which nothing more
// can be told comes without an answer.
export function answered({ question, answer = {} }) {
  leave(question.id);
  const word = answer.text ? "Answered" : answer.allowed ? "Allowed" : "Not done";
  live.textContent = `${word}${answer.by ? `, as ${answer.by} said` : answer.reason ? `: ${answer.reason}` : ""}.`;
}
