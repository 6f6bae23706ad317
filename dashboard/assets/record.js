// The record of a task, for download.
import { load } from "./api.js";
import { el } from "./dom.js";

// recordButton downloads the record of the task with this id, and says so where there is none.
export function recordButton(id) {
  const button = el("button", { class: "record", type: "button", onclick: async () => {
    try {
      const href = URL.createObjectURL(await load(`/api/tasks/${encodeURIComponent(id)}/run`));
      el("a", { href, download: `run-${id}.zip` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    } catch (error) {
      const text = error.status === 404 ? "This task was not recorded." : error.message;
      button.replaceWith(el("span", { class: "record" }, text));
    }
  } }, "Download the record");
  return button;
}
