// What the pages draw and show. Text is always set as text.
import { load } from "./api.js";
import { draw, el } from "./elements.js";

export { el };

const shapes = {
  check: "M5 12.5 10 17.5 19 7",
  cross: "m7 7 10 10M17 7 7 17",
  square: "M8 8h8v8H8z",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  note: "M12 8h.01M12 11.5V16",
  chevron: "m7 10 5 5 5-5",
};

export const drawing = (name, className) => draw(shapes[name], className);

// sign shows a state in front of a line: "spin", or the name of a shape.
export function sign(node, name, bad = false) {
  const key = `${name} ${bad}`;
  if (node.dataset.sign === key) return;
  node.dataset.sign = key;
  node.className = `sign${name === "spin" ? " spin" : ""}${bad ? " bad" : ""}`;
  node.replaceChildren(...(name === "spin" ? [] : [drawing(name)]));
}

// linked turns text into nodes, with http and https addresses as links.
export function linked(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>"'`]+/g)) {
    let address = match[0].replace(/[.,;:!?…]+$/, "");
    while (/[)\]}]$/.test(address) && !balanced(address)) address = address.slice(0, -1);
    if (!URL.canParse(address)) continue;
    nodes.push(text.slice(at, match.index));
    nodes.push(el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, address));
    at = match.index + address.length;
  }
  nodes.push(text.slice(at));
  return nodes;
}

function balanced(text) {
  const pairs = { ")": "(", "]": "[", "}": "{" };
  const last = text.at(-1);
  return text.split(pairs[last]).length >= text.split(last).length;
}

// fill shows the picture at a path in an image; where it cannot be had, its place stays empty.
export async function fill(image, path) {
  image.dataset.path = path;
  const url = await load(path).then(URL.createObjectURL, () => "");
  if (image.dataset.path !== path) return; // another one was wanted meanwhile
  image.classList.toggle("gone", !url);
  if (!url) return;
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
}

const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    fill(target, target.dataset.path);
  }
}, { rootMargin: "1000px", scrollMargin: "1000px" });

// picture makes an image of what is at a path, which is loaded at once, or when it comes near to what is seen.
export function picture(path, lazy = false, alt = "") {
  const image = el("img", { alt, decoding: "async", "data-path": path });
  if (lazy) inView.observe(image);
  else fill(image, path);
  return image;
}

// retryPictures asks again for the pictures that could not be had.
export function retryPictures() {
  for (const image of document.querySelectorAll("img.gone")) fill(image, image.dataset.path);
}

// save downloads what is at a path, under a name: a link would ask without the key. On failure the button becomes the
// reason.
export async function save(path, name, button, reason = (error) => error.message) {
  try {
    const href = URL.createObjectURL(await load(path));
    el("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  } catch (error) {
    button.replaceWith(el("span", { class: button.className }, reason(error)));
  }
}

// size says how many bytes there are, as people read it.
export function size(bytes) {
  const [unit, word] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([least]) => bytes >= least) ?? [1, "bytes"];
  return `${Number((bytes / unit).toPrecision(3))} ${word}`;
}

// ago says how long ago a time was, shortly.
export function ago(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

// lasted says how long something took, if it is worth saying.
export function lasted(from, to) {
  const seconds = Math.max(0, (new Date(to) - new Date(from)) / 1000);
  if (seconds < 0.05) return "";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
