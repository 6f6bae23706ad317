// The conversation with the assistant: what was said, the tasks that it has started, and its answers while they are
// written. It lasts as long as the page.
import { api, stream } from "./api.js";
import { el, sign } from "./dom.js";
import { markdown } from "./markdown.js";
import { Turn } from "./turn.js";

const maxLines = 40; // of the conversation that the assistant is told

export class Talk {
  // hooks: those of a Turn, changed(): something can be seen, tell(text, bad), answer(text): a choice was made.
  constructor(root, hooks) {
    Object.assign(this, { root, hooks });
    this.clear();
  }

  clear() {
    this.lines = []; // what was said, by both
    this.replies = new Set(); // those under way
    this.tasks = new Map(); // by id
    this.root.replaceChildren();
  }

  get running() { return this.replies.size > 0; }

  get empty() { return this.root.children.length === 0; }

  // stop ends all answers under way, with their tasks.
  stop() { for (const reply of this.replies) reply.abort(); }

  setTask(task) { this.tasks.get(task.id)?.setTask(task); }

  setStep(id, step) { this.tasks.get(id)?.setStep(step); }

  // say says something to the assistant, and shows its answer.
  async say(text, options) {
    const reply = new AbortController(), lines = this.lines.slice(-maxLines);
    const mark = el("span", { class: "sign" }), words = el("span", { role: "status" }, "Thinking");
    const state = el("p", { class: "talk-state" }, mark, words), tasks = el("div", { class: "talk-tasks" });
    let answer = el("div", { class: "answer" }), written = "";
    const root = el("article", { class: "turn", "aria-label": text }, el("div", { class: "ask" }, el("p", {}, text)), tasks, state);
    sign(mark, "spin");
    this.replies.add(reply);
    this.root.append(root);
    this.hooks.changed();
    const write = () => {
      answer.replaceChildren(...markdown(written));
      if (!answer.isConnected) state.before(answer);
      this.hooks.changed();
    };
    const heard = {
      text: ({ text: more = "", complete }) => {
        written += more;
        if (written.trim()) write();
        if (complete) [answer, written] = [el("div", { class: "answer" }), ""];
      },
      task: (task) => this.addTask(task, tasks),
      answer: ({ text: whole, choices = [] }) => {
        written = whole;
        if (whole) write();
        this.lines.push({ text }, { from_assistant: true, text: whole });
        state.remove();
        if (choices.length) {
          root.append(el("div", { class: "talk-choices" }, ...choices.map((c) =>
            el("button", { class: "ghost", type: "button", onclick: () => this.hooks.answer(c) }, c))));
        }
      },
      error: ({ error }) => { throw new Error(error); },
    };
    try {
      const other = await stream("/api/talk", (event, data) => heard[event]?.(data), reply.signal, { ...options, text, lines });
      if (other?.stopped) {
        root.remove();
        this.hooks.tell(other.stopped.length ? "Stopped." : "Nothing is running right now.");
      } else if (state.isConnected) throw new Error("The connection was lost before the answer came.");
    } catch (error) {
      const stopped = reply.signal.aborted;
      sign(mark, stopped ? "square" : "cross", !stopped);
      state.classList.toggle("bad", !stopped);
      words.textContent = stopped ? "Stopped" : error.message;
    }
    this.replies.delete(reply);
    this.hooks.changed();
  }

  async addTask(task, box) {
    const turn = new Turn(task, this.hooks);
    this.tasks.set(task.id, turn);
    box.append(turn.root);
    turn.open(false);
    this.hooks.changed();
    const view = await api("GET", `/api/tasks/${encodeURIComponent(task.id)}`).catch(() => null); // what came before
    for (const step of view?.steps ?? []) turn.setStep(step);
    if (view) turn.setTask(view.task);
    this.hooks.changed();
  }
}
