// The record of a task, for download.
import { el, save } from "./dom.js";

// recordButton downloads the record of the task with this id, and says so where there is none.
export function recordButton(id) {
  const reason = (error) => error.status === 404 ? "This task was not recorded." : error.message;
  const button = el("button", {
    class: "record", type: "button", onclick: () => save(`/api/tasks/${encodeURIComponent(id)}/run`, `run-${id}.zip`, button, reason),
  }, "Download the record");
  return button;
}
