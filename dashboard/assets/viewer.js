// Shows pictures large, one after the other.
import { fill } from "./dom.js";

const dialog = document.getElementById("viewer");
const image = document.getElementById("viewer-img");
const text = document.getElementById("viewer-text");
const place = document.getElementById("viewer-place");
const previous = dialog.querySelector(".viewer-prev");
const next = dialog.querySelector(".viewer-next");

let pictures = [];
let at = 0;

function draw() {
  const picture = pictures[at];
  fill(image, picture.src);
  image.alt = picture.text;
  text.textContent = picture.text;
  place.textContent = pictures.length > 1 ? `${at + 1} of ${pictures.length}` : "";
  previous.disabled = at === 0;
  next.disabled = at === pictures.length - 1;
}

function go(by) {
  const to = at + by;
  if (to < 0 || to >= pictures.length) return;
  at = to;
  draw();
}

export function show(list, index) {
  pictures = list;
  at = index;
  draw();
  dialog.showModal();
}

previous.addEventListener("click", () => go(-1));
next.addEventListener("click", () => go(1));
dialog.addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") go(-1);
  if (event.key === "ArrowRight") go(1);
});
dialog.addEventListener("close", () => {
  image.dataset.path = "";
  image.removeAttribute("src");
});
dialog.addEventListener("click", (event) => {
  if (!event.target.closest("img, button, figcaption")) dialog.close();
});
