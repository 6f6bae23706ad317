// Files for the next message: chosen, dropped or pasted. They are sent at once, so that they are there when it is.
import { upload } from "./api.js";
import { drawing, el, size } from "./dom.js";

const max = 10; // files of a message, see sessions.MaxTaskFiles
const list = document.getElementById("files"), input = document.getElementById("file-input");
let items = []; // { file, row, sent: promise of what clank knows of it, failed, end }
let say = () => {};

// attach sends files, and shows them as those of the next message.
export function attach(files) {
  for (const file of files) {
    if (items.length === max) return say(`No more than ${max} files can be sent at once.`, true);
    if (file.size > Number(input.dataset.max)) {
      say(`${file.name} is too large: a file may have ${size(Number(input.dataset.max))}.`, true);
      continue;
    }
    add(file);
  }
}

function add(file) {
  const end = new AbortController();
  const item = { file, end, sent: upload(file, end.signal) };
  item.row = el("li", { "aria-busy": "true" }, `${file.name} · ${size(file.size)}`, el("button", {
    class: "icon", type: "button", "aria-label": `Remove ${file.name}`, onclick: () => { end.abort(); remove(item); },
  }, drawing("cross")));
  items.push(item);
  list.append(item.row);
  draw();
  item.sent.then(() => item.row.removeAttribute("aria-busy"), (error) => {
    item.failed = true;
    remove(item);
    if (!end.signal.aborted) say(`${file.name} could not be sent: ${error.message}`, true);
  });
}

function remove(item) {
  items = items.filter((i) => i !== item);
  item.row.remove();
  draw();
}

function draw() {
  list.hidden = items.length === 0;
}

export const anyAttached = () => items.length > 0;

// takeAttached returns the files of the message that is sent now; the next one has none yet.
export function takeAttached() {
  const taken = items;
  items = [];
  list.replaceChildren();
  draw();
  return taken;
}

// putBack sends files of a message that was not taken once more: clank may not have them any longer.
export const putBack = (taken) => attach(taken.filter((item) => !item.failed).map((item) => item.file));

// whenSent returns the files once clank has them all.
export const whenSent = (taken) => Promise.all(taken.map((item) => item.sent));

// filesOf returns the files that are dropped or pasted: no folders, and none that come along with text.
function filesOf(data) {
  if (data.types.includes("text/plain")) return [];
  return [...data.items].filter((i) => i.kind === "file" && i.webkitGetAsEntry()?.isDirectory !== true).map((i) => i.getAsFile());
}

// takeFiles begins to take files; tell says something to the person.
export function takeFiles(main, composer, tell) {
  say = tell;
  document.getElementById("attach").addEventListener("click", () => input.click());
  input.addEventListener("change", () => { attach(input.files); input.value = ""; });
  composer.addEventListener("paste", (event) => {
    const files = filesOf(event.clipboardData);
    if (files.length) event.preventDefault();
    attach(files);
  });
  const dropping = (event, yes) => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    event.preventDefault();
    composer.classList.toggle("dropping", yes);
    return true;
  };
  main.addEventListener("dragover", (event) => dropping(event, true));
  main.addEventListener("dragleave", (event) => dropping(event, false));
  main.addEventListener("drop", (event) => { if (dropping(event, false)) attach(filesOf(event.dataTransfer)); });
}
