// The page of watches: begins and ends them, and shows what is new.
import { api } from "./api.js";

const form = document.getElementById("add");
const error = document.getElementById("add-error");
const limit = document.getElementById("limit");
const names = { below: "Number", above: "Number", contains: "Words", lacks: "Words", judged: "In your words" };

function shown() {
  const name = names[form.elements.kind.value];
  limit.hidden = !name;
  limit.firstElementChild.textContent = name ?? "";
}

// number reads "19,99" as well as "19.99".
function number(text) {
  return Number(text.trim().replace(/^(\d+),(\d{1,2})$/, "$1.$2"));
}

function request() {
  const { url, kind, value, near } = form.elements;
  const wanted = { url: url.value, kind: kind.value, near: near.value };
  if (kind.value === "below" || kind.value === "above") {
    wanted.number = number(value.value);
    if (!value.value.trim() || !Number.isFinite(wanted.number)) throw new Error("Give the limit as a number.");
  } else if (kind.value === "judged") wanted.what = value.value;
  else if (kind.value !== "changes") wanted.text = value.value;
  return wanted;
}

form.elements.kind.addEventListener("change", shown);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  error.textContent = "";
  try {
    await api("POST", "/api/watches", request());
    location.reload();
  } catch (e) {
    error.textContent = e.message;
    button.disabled = false;
  }
});

document.getElementById("list").addEventListener("click", async (event) => {
  const id = event.target.closest("[data-end]")?.dataset.end;
  if (!id) return;
  event.target.disabled = true;
  try {
    await api("POST", `/api/watches/${encodeURIComponent(id)}/end`);
    location.reload();
  } catch (e) {
    error.textContent = e.message;
    event.target.disabled = false;
  }
});

for (const time of document.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString();
shown();
