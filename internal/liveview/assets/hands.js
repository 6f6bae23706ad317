// Tells what a person does with mouse, fingers and keys at the picture of a page, as messages of kind "input". Places
// are CSS pixels of the page. Keys go to a text area that is not seen, so that input methods, dead keys and the
// keyboards of phones work as they do everywhere.

const buttons = ["left", "middle", "right", "back", "forward"];
const leaveWithin = 700; // milliseconds between the two presses of Escape
const maxZoom = 5;
const kept = "  "; // the text area is never empty, so that phones tell of deletions

// keysOf are the keys that stand for what keyboards of phones ask for.
const keysOf = {
  deleteContentBackward: ["Backspace", 8], deleteContentForward: ["Delete", 46], insertLineBreak: ["Enter", 13],
};

const mods = (e) => (e.altKey ? 1 : 0) + (e.ctrlKey ? 2 : 0) + (e.metaKey ? 4 : 0) + (e.shiftKey ? 8 : 0);

// shortcuts are keys that mean the page's browser, not the one in which it is seen.
function shortcut(e) {
  const control = e.ctrlKey || e.metaKey;
  if (e.key === "F5" || (control && e.key === "r")) return "reload";
  if (e.altKey && e.key === "ArrowLeft") return "back";
  if (e.altKey && e.key === "ArrowRight") return "forward";
  return "";
}

function clipboardEdit(e) {
  if (e.shiftKey && e.key === "Insert") return "paste";
  return (e.ctrlKey || e.metaKey) && !e.altKey ? { c: "copy", x: "cut", v: "paste" }[e.key.toLowerCase()] : undefined;
}

export class Hands {
  // on: send(message), size() of the page { vw, vh }, active() whether the person holds it, leave(), copy(cut),
  // command(what), zoomed(factor).
  constructor(picture, keys, on) {
    Object.assign(this, { picture, keys, on, zoom: 1, left: 0, top: 0, down: new Map(), pressed: new Set() });
    this.listenMouse();
    this.listenTouch();
    this.listenKeys();
  }

  input(kind, fields) { if (this.on.active()) this.on.send({ type: "input", kind, ...fields }); }

  // place returns where on the page a point of the window is.
  place({ clientX, clientY }) {
    const box = this.picture.getBoundingClientRect(), { vw, vh } = this.on.size();
    const along = (at, size, length) => Math.round(Math.min(Math.max(at / size, 0), 1) * length * 10) / 10;
    return { x: along(clientX - box.left, box.width, vw), y: along(clientY - box.top, box.height, vh) };
  }

  // release lets go of all that is held down.
  release() {
    for (const key of this.down.values()) this.input("keyup", { ...key, repeat: false, mods: 0 });
    for (const button of this.pressed) this.input("up", { ...this.last, button, clicks: 1, mods: 0 });
    this.down.clear();
    this.pressed.clear();
  }

  // ---- Mouse

  listenMouse() {
    const { picture } = this;
    const act = (kind) => (e) => {
      if (!this.on.active() || (kind === "up" && !this.pressed.has(buttons[e.button]))) return;
      e.preventDefault();
      this.flushMove();
      if (kind === "down") this.keys.focus({ preventScroll: true });
      this.pressed[kind === "down" ? "add" : "delete"](buttons[e.button]);
      this.last = this.place(e);
      this.input(kind, { ...this.last, button: buttons[e.button], clicks: Math.max(e.detail, 1), mods: mods(e) });
    };
    picture.addEventListener("mousedown", act("down"));
    addEventListener("mouseup", act("up"));
    addEventListener("mousemove", (e) => {
      const here = e.target === picture || this.pressed.size > 0;
      if (here && this.on.active()) this.move({ ...this.place(e), mods: mods(e) });
    });
    picture.addEventListener("contextmenu", (e) => { if (this.on.active()) e.preventDefault(); });
    picture.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  // move sends the first place in a frame at once, and of the others the last.
  move(at) {
    if (this.moving) return void (this.waiting = at);
    this.input("move", at);
    this.moving = true;
    requestAnimationFrame(() => {
      this.moving = false;
      this.flushMove();
    });
  }

  flushMove() {
    const at = this.waiting;
    this.waiting = null;
    if (at) this.input("move", at);
  }

  wheel(e) {
    const step = [1, 40, this.on.size().vh][e.deltaMode];
    if (e.ctrlKey) { // pinched on a touchpad
      e.preventDefault();
      this.zoomTo(this.zoom * Math.exp(-e.deltaY * step / 100), e.clientX, e.clientY);
    } else if (this.on.active()) {
      e.preventDefault();
      this.flushMove();
      this.input("wheel", { ...this.place(e), dx: e.deltaX * step, dy: e.deltaY * step, mods: mods(e) });
    }
  }

  // ---- Fingers: one goes to the page, two enlarge and move the picture.

  listenTouch() {
    const on = (name, handle) => this.picture.addEventListener(name, handle, { passive: false });
    on("touchstart", (e) => {
      if (e.touches.length > 1) this.beginPinch(e);
      else if (this.zoom > 1 || this.on.active()) this.finger("start", e);
    });
    on("touchmove", (e) => {
      if (this.pinch) this.movePinch(e);
      else if (this.touching) this.finger("move", e);
    });
    on("touchend", (e) => this.endTouch("end", e));
    on("touchcancel", (e) => this.endTouch("cancel", e));
  }

  finger(phase, e) {
    e.preventDefault(); // no mouse events beside it
    this.touching = true;
    const [finger] = e.changedTouches;
    if (this.on.active()) {
      const at = this.place(finger);
      this.input("touch", { phase, points: [[0, at.x, at.y]] });
    } else if (phase === "move") {
      this.shift(finger.clientX - this.finger0.clientX, finger.clientY - this.finger0.clientY);
    }
    this.finger0 = finger;
  }

  beginPinch(e) {
    e.preventDefault();
    if (this.touching) this.input("touch", { phase: "cancel", points: [] });
    this.touching = false;
    this.pinch = this.span(e);
  }

  span({ touches: [a, b] }) {
    const x = (a.clientX + b.clientX) / 2, y = (a.clientY + b.clientY) / 2;
    return { x, y, wide: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
  }

  movePinch(e) {
    e.preventDefault();
    if (e.touches.length < 2) return;
    const now = this.span(e);
    this.shift(now.x - this.pinch.x, now.y - this.pinch.y);
    this.zoomTo(this.zoom * now.wide / this.pinch.wide, now.x, now.y);
    this.pinch = now;
  }

  endTouch(phase, e) {
    if (this.touching) {
      e.preventDefault();
      this.input("touch", { phase, points: [] });
    }
    this.touching = false;
    if (e.touches.length === 0) this.pinch = null;
  }

  // zoomTo enlarges the picture so that what is at a point of the window stays there.
  zoomTo(factor, x, y) {
    const box = this.picture.getBoundingClientRect(), before = this.zoom;
    this.zoom = Math.min(Math.max(factor, 1), maxZoom);
    const grown = this.zoom / before - 1;
    this.shift(-(x - box.left) * grown, -(y - box.top) * grown);
  }

  // shift moves the enlarged picture, and no farther than its edges.
  shift(dx, dy) {
    const { offsetWidth: wide, offsetHeight: high } = this.picture;
    this.left = Math.min(0, Math.max(this.left + dx, wide * (1 - this.zoom)));
    this.top = Math.min(0, Math.max(this.top + dy, high * (1 - this.zoom)));
    this.picture.style.transform = this.zoom > 1 ? `translate(${this.left}px, ${this.top}px) scale(${this.zoom})` : "";
    this.on.zoomed(this.zoom);
  }

  // ---- Keys

  listenKeys() {
    const { keys } = this;
    keys.value = kept;
    keys.addEventListener("keydown", (e) => this.keyDown(e));
    keys.addEventListener("keyup", (e) => this.keyUp(e));
    keys.addEventListener("blur", () => this.release());
    keys.addEventListener("beforeinput", (e) => this.beforeInput(e));
    keys.addEventListener("compositionupdate", (e) => this.input("compose", { text: e.data, caret: e.data.length }));
    keys.addEventListener("compositionend", (e) => {
      this.input("commit", { text: e.data });
      queueMicrotask(() => { keys.value = kept; });
    });
    keys.addEventListener("paste", (e) => {
      e.preventDefault();
      const text = e.clipboardData.getData("text/plain");
      if (text) this.input("text", { text });
    });
  }

  keyDown(e) {
    if (e.isComposing || e.keyCode === 229) return; // the input method has it
    if (e.key === "Escape" && this.isSecondEscape(e)) return;
    const edit = clipboardEdit(e), command = shortcut(e);
    if (edit === "paste" || e.key === "Dead") return; // the text comes by itself
    e.preventDefault();
    if (edit) return void this.on.copy(edit === "cut");
    if (command) return void this.on.command(command);
    const { key, code, keyCode, location, repeat } = e;
    this.down.set(code || key, { key, code, keyCode, location });
    this.input("keydown", { key, code, keyCode, location, repeat, mods: mods(e) });
  }

  keyUp(e) {
    const { key, code, keyCode, location } = e;
    if (!this.down.delete(code || key)) return;
    this.input("keyup", { key, code, keyCode, location, repeat: false, mods: mods(e) });
    if (key === "Meta") this.release(); // Apple's systems tell of no other key while it is held
  }

  // isSecondEscape leaves the picture. The first press went to the page.
  isSecondEscape(e) {
    const before = this.escaped;
    this.escaped = e.timeStamp;
    if (e.repeat || !(e.timeStamp - before < leaveWithin)) return false;
    this.escaped = undefined;
    e.preventDefault();
    this.on.leave();
    return true;
  }

  // beforeInput takes what comes without keys: from dead keys, keyboards of phones, speech.
  beforeInput(e) {
    if (e.isComposing || e.inputType.includes("Composition")) return;
    e.preventDefault();
    const [key, keyCode] = keysOf[e.inputType] ?? [];
    if (key) this.press(key, keyCode);
    else if (e.data) this.input("text", { text: e.data });
  }

  press(key, keyCode) {
    const fields = { key, code: key, keyCode, location: 0, repeat: false, mods: 0 };
    for (const kind of ["keydown", "keyup"]) this.input(kind, fields);
  }
}
