// A turn is one task in the conversation: what was asked, the steps, the answer.
import { sentence } from "./api.js";
import { drawing, el, lasted, picture, save, sign, size } from "./dom.js";
import { filmOf, filmRequest } from "./film.js";
import { markdown } from "./markdown.js";
import { recordButton } from "./record.js";

// age says how far a state is: none comes back.
const age = (state) => ({ queued: 0, running: 1 })[state] ?? 2;
export const final = (state) => age(state) === 2;

export class Turn {
  // hooks: stop(taskID), show(pictures, index), member: not the operator's.
  constructor(task, hooks) {
    this.task = task;
    this.steps = new Map(); // by number: { step, row }
    this.hooks = hooks;
    this.build();
    this.draw();
  }

  build() {
    this.headSign = el("span", { class: "sign" });
    this.headText = el("span", { class: "text" });
    this.list = el("ol", { class: "steps", "aria-label": "Steps", hidden: true });
    this.toggle = el("button", { class: "work-toggle", type: "button", "aria-expanded": "true", onclick: () => this.open(this.list.hidden) },
      this.headSign, this.headText, drawing("chevron", "chevron"));
    this.stop = el("button", { class: "ghost", type: "button", onclick: () => { this.stop.disabled = true; this.hooks.stop(this.task.id); } }, "Stop");
    this.reason = el("p", { class: "reason", hidden: true });
    this.answer = el("div", { class: "answer", hidden: true });
    this.files = el("ul", { class: "files", "aria-label": "Files of this task", hidden: true });
    this.root = el("article", { class: "turn", id: `task-${this.task.id}`, "aria-label": this.task.prompt },
      el("div", { class: "ask" }, el("p", {}, this.task.prompt), this.files),
      el("div", { class: "work" }, el("div", { class: "work-head" }, this.toggle, this.stop), this.list, this.reason),
      this.answer);
  }

  get running() { return !final(this.task.state); }

  open(yes) {
    this.closed = !yes;
    this.list.hidden = !yes || this.steps.size === 0;
    this.toggle.setAttribute("aria-expanded", String(yes));
  }

  // setTask takes a state. One that was on the way for longer than what is known changes nothing.
  setTask(task) {
    if (age(task.state) < age(this.task.state)) return;
    this.task = { ...task, images: task.images ?? this.task.images };
    this.draw();
  }

  // setStep takes a step. What is done is not undone by a late "begun".
  setStep(step) {
    const known = this.steps.get(step.n);
    if (known && known.step.phase === "done" && step.phase === "begun") return;
    const entry = known ?? {};
    entry.step = step;
    this.steps.set(step.n, entry);
    if (this.shown(step)) this.drawStep(entry);
    if (step.kind === "think" && this.steps.get(step.n + 1)?.row) this.drawStep(this.steps.get(step.n + 1));
    if (step.kind === "answer") this.text ??= step.text;
    this.draw();
  }

  // shown: a thought is told in the head while it lasts, and then with the act
  // it led to.
  shown(step) {
    return step.kind === "act" || step.kind === "notice";
  }

  // about is what is said below a step's label: why it failed, or the thought
  // that led to it, unless that says the same again.
  about(step) {
    if (step.failed || step.kind === "notice") return step.text && step.text !== step.label ? step.text : "";
    const before = this.steps.get(step.n - 1)?.step;
    const thought = before?.kind === "think" ? before.text ?? "" : "";
    return thought.toLowerCase().includes(step.label.toLowerCase()) ? "" : thought;
  }

  drawStep(entry) {
    const { step } = entry;
    if (!entry.row) {
      entry.sign = el("span", { class: "sign" });
      entry.label = el("p", { class: "label" });
      entry.more = el("p", { class: "more", hidden: true });
      entry.row = el("li", { class: "step", value: step.n }, entry.sign, el("div", { class: "what" }, entry.label, entry.more));
      const later = [...this.steps.values()].filter((e) => e.row && e.step.n > step.n).sort((a, b) => a.step.n - b.step.n)[0];
      this.list.insertBefore(entry.row, later?.row ?? null);
      this.open(!this.closed);
    }
    const talk = step.kind !== "act";
    entry.row.classList.toggle("talk", talk);
    entry.row.classList.toggle("failed", Boolean(step.failed));
    entry.label.textContent = step.label;
    const more = this.about(step);
    entry.more.textContent = more;
    entry.more.hidden = !more;
    this.signStep(entry);
    if (!talk) this.drawThumb(entry);
  }

  signStep({ step, sign: node }) {
    if (step.phase === "begun") sign(node, this.running ? "spin" : "square");
    else if (step.failed) sign(node, "cross", true);
    else sign(node, step.kind === "act" ? "check" : "note");
  }

  drawThumb(entry) {
    const { step } = entry;
    let thumb;
    if (step.view) {
      if (entry.picture) return;
      entry.picture = { src: `/api/steps/${encodeURIComponent(this.task.id)}/${step.n}/view`, text: step.label, n: step.n };
      thumb = el("button", { class: "thumb", type: "button", "aria-label": `Show the page after: ${step.label}`, onclick: () => this.showStep(entry) },
        picture(entry.picture.src, true));
    } else {
      const waits = step.phase === "begun" && this.running;
      thumb = waits ? el("span", { class: "thumb wait", "aria-hidden": "true" }) : null;
    }
    if (entry.thumb && thumb) entry.thumb.replaceWith(thumb);
    else if (thumb) entry.row.append(thumb);
    else entry.thumb?.remove();
    entry.thumb = thumb;
  }

  showStep(entry) {
    const pictures = [...this.steps.values()].map((e) => e.picture).filter(Boolean).sort((a, b) => a.n - b.n);
    this.hooks.show(pictures, pictures.indexOf(entry.picture));
  }

  draw() {
    const { task } = this;
    const bad = task.state === "failed" || task.state === "interrupted";
    sign(this.headSign, this.running ? (task.state === "queued" ? "dots" : "spin") : task.state === "done" ? "check" : bad ? "cross" : "square", bad);
    const [main, rest] = this.status();
    this.headText.replaceChildren(el("b", {}, main), rest ? ` · ${rest}` : "");
    this.toggle.disabled = ![...this.steps.values()].some((e) => e.row);
    this.toggle.querySelector(".chevron").style.visibility = this.toggle.disabled ? "hidden" : "";
    this.stop.hidden = !this.running;
    if (!this.running) {
      for (const entry of this.steps.values()) {
        if (entry.row) this.signStep(entry);
        if (entry.thumb?.classList.contains("wait")) { entry.thumb.remove(); entry.thumb = null; }
      }
    }
    this.reason.textContent = this.explanation();
    this.reason.hidden = !this.reason.textContent;
    this.reason.classList.toggle("bad", bad);
    this.drawFiles();
    this.drawAnswer();
    if (!this.running && !this.record && [...this.steps.values()].some((e) => e.row)) {
      this.record = el("a", { class: "record", href: `/tasks/${encodeURIComponent(task.id)}` }, "Details");
      this.root.append(...(this.hooks.member ? [] : [recordButton(task.id), " "]), this.record);
      filmOf(this);
    }
    if (task.state === "running" && !this.hooks.member) this.filming ??= filmRequest(this);
    else this.filming?.remove();
  }

  // status is the head's line: what is going on, and what more to know.
  status() {
    const { task } = this;
    const acts = [...this.steps.values()].filter((e) => e.step.kind === "act");
    const count = acts.length === 1 ? "1 step" : `${acts.length} steps`;
    const took = task.started && task.ended && !task.started.startsWith("0001") ? lasted(task.started, task.ended) : "";
    const facts = [acts.length ? count : "", took].filter(Boolean).join(" · ");
    switch (task.state) {
      case "queued": return ["Waiting in line", task.position ? `place ${task.position}${task.shortage ? ", until there is more memory" : ""}` : ""];
      case "running": {
        const last = [...this.steps.values()].map((e) => e.step).sort((a, b) => b.n - a.n)[0];
        if (!last) return ["Starting", ""];
        if (last.kind === "think" && last.phase === "begun") return ["Thinking", acts.length ? count : ""];
        return ["Working", acts.length ? count : ""];
      }
      case "done": return ["Done", facts];
      case "limited": return ["Ended at a limit", facts];
      case "stopped": return [this.shortReason() || "Stopped", facts];
      case "interrupted": return ["Interrupted", facts];
      default: return ["Failed", facts];
    }
  }

  // shortReason is why a task was stopped, where that fits into the head.
  shortReason() {
    const { reason = "" } = this.task;
    return reason.length <= 40 ? reason.slice(0, 1).toUpperCase() + reason.slice(1) : "";
  }

  explanation() {
    const { state, reason } = this.task;
    if (!reason || state === "done" || this.running || (state === "stopped" && this.shortReason())) return "";
    const text = sentence(reason);
    return reason.startsWith("step limit") ? `${text} Write “continue” to go on. Options, Steps allows a task more.` : text;
  }

  drawAnswer() {
    const text = this.task.answer || this.text || "";
    const images = this.task.images ?? [], downloads = this.task.downloads ?? [];
    const key = `${text} ${images.length} ${downloads.length} ${this.task.state}`;
    this.answer.hidden = !text && images.length + downloads.length === 0;
    if (this.answerKey === key) return;
    this.answerKey = key;
    const pictures = images.map(({ caption }, i) => ({
      src: `/api/tasks/${encodeURIComponent(this.task.id)}/images/${i}`, text: caption || "Picture of the answer", caption,
    }));
    this.answer.replaceChildren(...markdown(text));
    if (pictures.length) {
      this.answer.append(el("div", { class: "pictures" }, ...pictures.map((p, i) =>
        el("button", { type: "button", "aria-label": `Enlarge picture ${i + 1} of the answer${p.caption ? `: ${p.caption}` : ""}`, onclick: () => this.hooks.show(pictures, i) },
          picture(p.src)))));
    }
    if (downloads.length) {
      this.answer.append(el("ul", { class: "files", "aria-label": "Files that pages offered" }, ...downloads.map((f) => el("li", {}, this.download(f)))));
    }
  }

  // download makes a button that fetches a file which a page offered.
  download({ id, name, size: bytes }) {
    const path = `/api/tasks/${encodeURIComponent(this.task.id)}/downloads/${encodeURIComponent(id)}`;
    const button = el("button", { class: "download", type: "button", onclick: () => save(path, name, button) }, `${name} · ${size(bytes)}`);
    return button;
  }

  drawFiles() {
    const files = this.task.files ?? [];
    this.files.hidden = files.length === 0;
    this.files.replaceChildren(...files.map((f) => el("li", {}, `${f.name} · ${size(f.size)}`)));
  }
}
