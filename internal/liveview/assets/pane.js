// The live pane: what the page of a session shows, and the means to work it. It speaks to clank over one WebSocket,
// over which pictures and the state come and wishes go. Text is always set as text.
import { draw, el } from "./elements.js";
import { decoder } from "./frames.js";
import { Hands } from "./hands.js";

const firstWait = 500, longestWait = 15_000; // milliseconds before the connection is tried again
const longestSilence = 15_000; // clank sends something every five seconds
const maxUpload = 20 << 20;
const vp8 = 2; // the kind of a frame

const shapes = {
  back: "m14.5 5-7 7 7 7",
  forward: "m9.5 5 7 7-7 7",
  reload: "M19 12a7 7 0 1 1-2-4.9M19 4v4h-4",
  add: "M12 5v14M5 12h14",
  cross: "m7 7 10 10M17 7 7 17",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  keyboard: "M3 7h18v10H3zM7 10.5h.01M12 10.5h.01M17 10.5h.01M8 14h8",
};

// end closes a socket. One that is not open yet would complain of it on the console.
function end(socket) {
  if (socket?.readyState === WebSocket.CONNECTING) socket.addEventListener("open", () => socket.close());
  else socket?.close();
}

const icon = (shape, label, onclick) =>
  el("button", { class: "icon", type: "button", "aria-label": label, title: label, onclick }, draw(shapes[shape]));
const button = (text, style, onclick) => el("button", { class: style, type: "button", onclick }, text);
const field = (label) => ({
  type: "text", "aria-label": label, autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "8000",
});
const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1).replace(/[.\s]*$/, ".")}`;

// drawn resolves when the page is drawn, or, where nobody sees it, soon.
const drawn = () => new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 100); });

// listNames writes each name once, with how often it comes.
function listNames(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, n]) => (n > 1 ? `${name} (${n})` : name)).join(", ");
}

// address makes one of what was typed where addresses are typed.
function address(text) {
  if (/^[a-z][a-z\d+.-]*:(?!\d)/i.test(text)) return text;
  return `${/^(localhost|127\.|\[::1\])/.test(text) ? "http" : "https"}://${text}`;
}

const nothing = { tabs: [], control: {}, viewers: [], may: {}, task: null, dialog: null, chooser: false };

let count = 0; // of panes, for ids

export class Pane {
  // options: noNotes leaves out the field for instructions, where there is one beside the pane already; onState is told
  // what a viewer sees beside the picture; again begins anew where a view is over, in place of opening it again.
  constructor(options = {}) {
    this.options = options;
    this.id = `pane-${++count}`;
    this.state = nothing;
    this.size = { vw: 1, vh: 1 };
    this.build();
    this.hands = new Hands(this.canvas, this.keys, {
      send: (message) => this.send(message),
      size: () => this.size,
      active: () => this.works && !this.state.dialog && !this.state.chooser,
      leave: () => this.give.focus(),
      copy: (cut) => { this.cut = cut; this.do("copy"); },
      command: (what) => this.do(what),
      zoomed: (factor) => { this.stage.classList.toggle("zoomed", factor > 1); },
    });
    new ResizeObserver(() => { this.layOut(); this.wantSize(); }).observe(this.stage);
    document.addEventListener("visibilitychange", () => this.onVisible());
    addEventListener("online", () => this.retry());
    this.draw();
  }

  // ---- Connection

  // open shows what comes from a WebSocket's path, which is opened with a secret. Without a path nothing is shown.
  open(path, secret) {
    this.close();
    Object.assign(this, { path, secret, wait: firstWait, over: "", wish: false, eager: false });
    this.draw();
    if (path) this.connect();
  }

  close() {
    const { socket } = this;
    clearTimeout(this.retrying);
    clearTimeout(this.silence);
    Object.assign(this, { path: "", socket: null, live: false, state: nothing, frame: null, message: "" });
    this.endVideo();
    end(socket);
    this.canvas.hidden = true;
    this.draw();
  }

  connect() {
    clearTimeout(this.retrying);
    const to = Object.assign(new URL(this.path, location), { protocol: location.protocol.replace("http", "ws") });
    const socket = new WebSocket(to, ["clank.live", `key.${this.secret}`]);
    socket.binaryType = "arraybuffer";
    Object.assign(this, { socket, painted: 0 });
    this.limitSilence();
    const mine = (handle) => (event) => { if (this.socket === socket) handle(event); };
    socket.addEventListener("open", mine(() => {
      Object.assign(this, { live: true, wanted: "" });
      this.wantSize();
      if (globalThis.VideoDecoder) this.send({ type: "video" });
      this.draw();
    }));
    socket.addEventListener("message", mine(({ data }) => {
      this.limitSilence();
      if (typeof data === "string") this.hear(JSON.parse(data));
      else this.onFrame(data);
    }));
    socket.addEventListener("close", mine(() => this.onClose()));
  }

  // limitSilence connects again when nothing has come for too long: a connection may be lost without a close event.
  limitSilence() {
    clearTimeout(this.silence);
    const { socket } = this;
    this.silence = setTimeout(() => {
      if (this.socket !== socket) return;
      this.onClose();
      end(socket);
    }, longestSilence);
  }

  onClose() {
    clearTimeout(this.silence);
    this.endVideo();
    const state = this.state === nothing ? nothing : { ...this.state, control: {}, dialog: null, chooser: false };
    this.change({ socket: null, live: false, wish: false, state });
    if (!this.path || this.over || document.hidden) return;
    this.retrying = setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(this.wait * 2, longestWait);
  }

  retry() { if (this.path && !this.socket && !this.over) this.connect(); }

  // onVisible has no pictures sent to a page that nobody sees, unless the person there holds what is shown.
  onVisible() {
    if (!document.hidden) this.retry();
    else if (!this.state.control.mine) end(this.socket);
  }

  send(message) { if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }
  do(what, fields) { this.send({ type: "do", what, ...fields }); }

  hear(message) {
    switch (message.type) {
      case "state":
        this.change({ wait: firstWait, state: { ...nothing, ...message } });
        return this.options.onState?.(this.state);
      case "error":
        this.wish = false;
        return this.tell(message.text, true);
      case "clipboard": return this.onCopied(message.text);
      case "ended":
        this.canvas.hidden = true;
        this.change({ over: message.reason || "There is nothing more to be seen", state: nothing });
    }
  }

  // change takes over what is new, and moves the focus where the person has begun or ended to hold the page.
  change(fields) {
    const had = this.works;
    Object.assign(this, fields);
    this.draw();
    if (this.works && !had) this.onTaken();
    else if (had && !this.works) this.onGiven();
    if (this.eager && this.live && this.state !== nothing) this.askFor();
  }

  // tell shows a sentence: for a moment, or, if it is bad news, until there are others or the person holds the page.
  tell(text, bad = false) {
    clearTimeout(this.telling);
    Object.assign(this, { message: sentence(text), bad });
    if (text && !bad) this.telling = setTimeout(() => this.tell(""), 6000);
    this.draw();
  }

  async onCopied(text) {
    if (text && this.cut) this.hands.press("Delete", 46);
    this.cut = false;
    try {
      if (text) await navigator.clipboard.writeText(text);
      this.tell(text ? "Copied." : "Nothing is selected in the page.");
    } catch {
      this.tell("Your browser does not let this page use the clipboard.", true);
    }
  }

  // ---- Pictures

  onFrame(data) {
    const view = new DataView(data), length = view.getUint32(1);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 5, length)));
    const picture = new Uint8Array(data, 5 + length);
    if (view.getUint8(0) === vp8) return this.showVideo(header, picture);
    this.frame = { ...header, blob: new Blob([picture], { type: "image/jpeg" }) };
    if (!this.decoding) this.showFrames();
  }

  // showVideo shows a frame of video, which comes on narrow lines.
  showVideo(header, data) {
    this.video ??= this.openVideo();
    this.video.heads.push(header);
    this.video.draw(data, header.w, header.h, header.n);
  }

  openVideo() {
    const heads = [], ack = () => this.send({ type: "ack", n: heads.shift().n });
    const failed = () => {
      this.endVideo();
      this.send({ type: "pictures" });
      while (heads.length) ack();
    };
    const shown = (frame) => { this.paint(frame, heads[0]); ack(); };
    return Object.assign(decoder(shown, ack, failed), { heads });
  }

  endVideo() {
    this.video?.close();
    this.video = null;
  }

  // showFrames shows the latest picture, as long as there are later ones. What came before it is not shown.
  async showFrames() {
    this.decoding = true;
    for (let frame = this.frame; frame; frame = this.frame) {
      this.frame = null;
      const { socket } = this;
      const bitmap = await createImageBitmap(frame.blob).catch(() => null);
      if (bitmap) await drawn();
      if (socket !== this.socket) bitmap?.close(); // of another session
      else {
        if (bitmap) this.paint(bitmap, frame);
        this.send({ type: "ack", n: frame.n });
      }
    }
    this.decoding = false;
  }

  paint(bitmap, { n, w: width, h: height, vw, vh }) {
    const { canvas } = this;
    if (n < this.painted) return bitmap.close(); // a picture that was decoded for longer than the video after it
    this.painted = n;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const fresh = canvas.hidden || vw !== this.size.vw || vh !== this.size.vh;
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    this.size = { vw, vh };
    if (!fresh) return;
    canvas.hidden = false;
    this.layOut();
    this.draw();
  }

  // layOut makes the picture as large as there is room.
  layOut() {
    const { vw, vh } = this.size, { clientWidth, clientHeight } = this.stage;
    const fit = Math.min(clientWidth / vw, clientHeight / vh);
    const [width, height] = [vw, vh].map((n) => `${Math.floor(n * fit)}px`);
    Object.assign(this.canvas.style, { width, height });
    this.hands.shift(0, 0);
  }

  // wantSize asks for pictures that are as large as they are shown.
  wantSize() {
    clearTimeout(this.sizing);
    this.sizing = setTimeout(() => {
      const [w, h] = [this.stage.clientWidth, this.stage.clientHeight].map((n) => Math.round(n * devicePixelRatio));
      if (!this.live || !w || !h || this.wanted === `${w} ${h}`) return;
      this.wanted = `${w} ${h}`;
      this.send({ type: "size", w, h });
    }, 150);
  }

  // ---- What is there

  // task is the one that waits or runs.
  get task() { return ["queued", "running"].includes(this.state.task?.state) ? this.state.task : null; }

  get works() { return Boolean(this.live && this.state.control.mine && !this.state.control.waiting); }

  build() {
    this.tabs = el("ul", { "aria-label": "Tabs" });
    this.add = icon("add", "New tab", () => this.do("tabNew"));
    this.back = icon("back", "Back", () => this.do("back"));
    this.forward = icon("forward", "Forward", () => this.do("forward"));
    this.reload = icon("reload", "Reload", () => this.do("reload"));
    this.address = el("input", {
      ...field("Address"), inputmode: "url", onfocus: () => this.address.select(), onblur: () => this.drawAddress(),
    });
    this.bar = el("form", { class: "pane-bar", onsubmit: (e) => this.navigate(e) },
      this.back, this.forward, this.reload, this.address);
    this.canvas = el("canvas", { role: "img", hidden: true });
    this.keys = el("textarea", {
      ...field("Keyboard of the page"), type: false, class: "pane-keys", autocorrect: "off",
      "aria-describedby": `${this.id}-how`,
    });
    this.cover = el("div", { class: "pane-cover", hidden: true });
    this.stage = el("div", { class: "pane-stage" }, this.canvas, this.keys, this.cover);
    this.status = el("p", { class: "pane-status", role: "status" });
    this.viewers = el("p", { class: "pane-viewers" });
    this.take = button("Take over", "primary", () => this.askFor());
    this.give = button("Give back", "primary", () => this.send({ type: "give" }));
    this.offer = button("Hand over", "ghost", () => this.send({ type: "offer" }));
    this.fit = icon("fit", "Make the page as large as this picture", () => this.resize());
    this.board = icon("keyboard", "Show the keyboard", () => this.keys.focus());
    this.board.classList.add("pane-touch");
    this.stop = button("Stop the task", "ghost", () => this.send({ type: "stop" }));
    this.note = el("input", { ...field("Tell the running task"), placeholder: "Tell the running task" });
    this.notes = el("form", { class: "pane-note", onsubmit: (e) => this.sendNote(e) },
      this.note, el("button", { class: "ghost" }, "Send"));
    this.root = el("section", { class: "pane", "aria-label": "Live view" },
      el("div", { class: "pane-tabs" }, this.tabs, this.add), this.bar, this.stage,
      el("p", { id: `${this.id}-how`, hidden: true }, "Your keys go to the page. Press Escape twice to leave it."),
      el("div", { class: "pane-foot" },
        el("div", { class: "pane-text" }, this.status, this.viewers),
        el("div", { class: "pane-acts" }, this.take, this.give, this.offer, this.fit, this.board, this.stop)),
      this.notes);
  }

  draw() {
    const { state, works, task } = this, { control, may } = state, open = state.tabs.length > 0;
    this.root.classList.toggle("works", works);
    this.root.classList.toggle("lost", !this.live);
    this.stage.setAttribute("aria-busy", String(Boolean(state.loading)));
    for (const part of [this.add, this.back, this.forward, this.reload, this.keys]) part.disabled = !works;
    this.address.readOnly = !works;
    this.canvas.setAttribute("aria-label", `The page ${state.title || state.url || "of this session"}, live`);
    this.drawTabs();
    this.drawAddress();
    this.drawCover(open);
    this.status.textContent = this.message || this.about();
    this.status.classList.toggle("bad", Boolean(this.message && this.bad));
    const { viewers } = state;
    this.viewers.textContent = viewers.length > 1 ? `${viewers.length} watching: ${listNames(viewers)}` : "";
    this.take.hidden = !this.live || !may.control || control.mine || !open;
    this.take.textContent = !control.holder || control.offered ? "Take over" : "Ask for it";
    this.give.hidden = !this.live || !control.mine;
    this.give.textContent = control.waiting ? "Cancel" : "Give back";
    this.offer.hidden = !works || control.offered;
    this.fit.hidden = this.board.hidden = !works;
    this.stop.hidden = !this.live || !may.stop || !task;
    this.notes.hidden = this.options.noNotes || !this.live || !may.note || !task;
  }

  // about says who holds the page, and what goes on.
  about() {
    const { task } = this, { control, tabs } = this.state;
    if (!this.path || this.over) return "";
    if (!this.live) return this.state === nothing ? "Connecting…" : "Connection lost. Trying again…";
    if (control.waiting && (control.mine || this.wish)) return "You can take over as soon as the current step is done.";
    if (control.mine) {
      const wanted = (control.wanted ?? []).join(", ");
      if (control.offered) return "You control the page until somebody else takes it.";
      if (wanted) return `${wanted} would like to take over.`;
      return "You control the page. Press Escape twice to leave it, then give it back.";
    }
    if (control.holder) return `${control.holder} ${control.offered ? "hands the page over" : "controls the page"}.`;
    return task?.label || (tabs.length ? "Live" : "");
  }

  drawTabs() {
    const { works, state } = this, key = JSON.stringify([works, state.tabs]);
    if (this.tabsKey === key) return;
    this.tabsKey = key;
    const focused = this.tabs.contains(document.activeElement) && document.activeElement.dataset.tab;
    this.tabs.replaceChildren(...state.tabs.map(({ id, title, url, current }) => {
      const name = title || url || "New tab";
      const close = icon("cross", `Close the tab ${name}`, () => this.do("tabClose", { tab: id }));
      const choose = el("button", {
        class: "pane-tab", type: "button", "data-tab": id, title: name, disabled: !works,
        "aria-current": current ? "true" : false, onclick: () => this.do("tabSelect", { tab: id }),
      }, name);
      return el("li", {}, choose, works ? close : null);
    }));
    if (focused) this.tabs.querySelector(`[data-tab="${CSS.escape(focused)}"]`)?.focus();
  }

  drawAddress() {
    if (document.activeElement !== this.address || !this.works) this.address.value = this.state.url ?? "";
  }

  // drawCover shows what lies over the picture: a question of the page, or why there is no picture.
  drawCover(open) {
    const { state, works } = this, { dialog, chooser, control } = state;
    const held = control.holder && !control.mine && !control.waiting;
    const closed = this.over ? "over" : this.live && this.state !== nothing && !open ? "closed" : "";
    const kind = held && open ? "held" : dialog ? "dialog" : chooser && works ? "chooser" : closed;
    const key = JSON.stringify([kind, dialog, works, state.may.control, state.control, this.over, this.wish]);
    if (this.coverKey === key) return;
    this.coverKey = key;
    const had = this.cover.contains(document.activeElement);
    const makers = {
      held: this.sayHeld, dialog: this.askDialog, chooser: this.askFiles, closed: this.sayClosed, over: this.sayOver,
    };
    const parts = makers[kind]?.call(this);
    this.cover.hidden = !parts;
    if (kind === "closed") this.canvas.hidden = true;
    this.stage.classList.toggle("held", kind === "held");
    const group = { class: "pane-card", role: "group", "aria-labelledby": `${this.id}-asks` };
    this.cover.replaceChildren(...(parts ? [el("div", group, ...parts)] : []));
    if (parts && works) this.cover.querySelector("input, .primary")?.focus();
    else if (had && works) this.keys.focus();
  }

  asks(text) { return el("p", { id: `${this.id}-asks` }, text); }

  askDialog() {
    const { kind, text } = this.state.dialog, leaves = kind === "beforeunload";
    const input = kind === "prompt" ? el("input", field("Answer")) : null;
    const answer = (accept) => (e) => {
      e.preventDefault();
      this.do("dialog", { accept, text: input?.value ?? "" });
    };
    const yes = el("button", { class: "primary" }, leaves ? "Leave the page" : "OK");
    const no = button(leaves ? "Stay" : "Cancel", "ghost", answer(false));
    const form = el("form", { onsubmit: answer(true) },
      input, el("div", { class: "row" }, yes, kind === "alert" ? null : no));
    const says = leaves ? "Leave this page? What was entered may be lost." : `The page says: ${text}`;
    return [this.asks(says), this.works ? form : null];
  }

  askFiles() {
    const onchange = (e) => this.sendFiles([...e.target.files]);
    const files = el("input", { type: "file", multiple: true, "aria-label": "Files for the page", onchange });
    const none = button("Give none", "ghost", () => this.do("files", { files: [] }));
    return [this.asks("The page asks for a file."), files, none];
  }

  sayHeld() { return [this.asks(`${this.state.control.holder} is at the controls.`)]; }

  sayClosed() {
    const { may, control } = this.state;
    if (control.mine || this.wish) return [this.asks("The page is being opened.")];
    const opens = may.control && !control.holder ? button("Open the page", "primary", () => this.askFor()) : null;
    return [this.asks("The page of this session is not open."), opens];
  }

  sayOver() {
    const again = this.options.again ?? (() => this.open(this.path, this.secret));
    return [this.asks(sentence(this.over)), button("Try again", "ghost", again)];
  }

  // ---- What is done

  // takeSoon asks for the page as soon as there is a connection.
  takeSoon() {
    this.change({ eager: true });
  }

  askFor() {
    Object.assign(this, { wish: true, eager: false });
    this.send({ type: "take" });
    this.tell("");
  }

  onTaken() {
    this.tell("");
    if (this.wish && !this.state.dialog) this.keys.focus({ preventScroll: true });
    this.wish = false;
  }

  onGiven() {
    this.hands.release();
    if (this.root.contains(document.activeElement) || document.activeElement === document.body) this.take.focus();
  }

  navigate(event) {
    event.preventDefault();
    const text = this.address.value.trim();
    if (!this.works || !text) return;
    this.do("navigate", { url: address(text) });
    this.keys.focus({ preventScroll: true });
  }

  resize() {
    const { clientWidth, clientHeight } = this.stage;
    this.do("resize", { w: Math.max(clientWidth, 320), h: Math.max(clientHeight, 240) });
  }

  async sendFiles(files) {
    if (files.reduce((sum, file) => sum + file.size, 0) > maxUpload) {
      return this.tell("These files are too large: 20 MB at most.", true);
    }
    const read = async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
      return { name: file.name, data: btoa(text) };
    };
    this.do("files", { files: await Promise.all(files.map(read)) });
  }

  sendNote(event) {
    event.preventDefault();
    const text = this.note.value.trim();
    if (!text) return;
    this.send({ type: "note", text });
    this.note.value = "";
    this.tell("Passed on. It is heard before the next step.");
  }
}
