// The record of a task, for download.
import { el } from "./dom.js";

// recordLink leads to the record of the task with this id, and says so where there is none.
export function recordLink(id) {
  const href = `/api/tasks/${encodeURIComponent(id)}/run`;
  const link = el("a", { class: "record", href, onclick: async (ev) => {
    ev.preventDefault();
    const there = await fetch(href, { method: "HEAD" }).then((r) => r.ok, () => false);
    if (there) location.assign(href);
    else link.replaceWith(el("span", { class: "record" }, "This task was not recorded."));
  } }, "Download the record");
  return link;
}
