// The film of a task: played beside its steps, each of which leads to its moment.
import { api, load } from "./api.js";
import { el, save } from "./dom.js";

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// filmOf adds what plays the film of a turn that has ended, if there is one.
export async function filmOf(turn) {
  const path = `/api/tasks/${encodeURIComponent(turn.task.id)}/film`;
  const { filmed, chapters } = await api("GET", `${path}/chapters`).catch(() => ({ filmed: false }));
  if (!filmed) return;
  let video;
  // play shows the film from a moment on. It is loaded whole, as a player could not ask with the key.
  const play = async (at) => {
    video ??= load(path).then((film) => {
      const player = el("video", { class: "film", controls: true, "aria-label": "Recording of this task" });
      player.src = URL.createObjectURL(film);
      turn.list.before(player);
      return new Promise((ready) => player.addEventListener("loadedmetadata", () => ready(player), { once: true }));
    });
    const player = await video;
    player.currentTime = at;
    player.scrollIntoView({ block: "nearest" });
    player.play().catch(() => {}); // the browser may want another click
  };
  const show = (at) => play(at).catch((error) => { watch.textContent = error.message; });
  const watch = el("button", { class: "record", type: "button", onclick: () => show(0) }, "Play the recording");
  const clip = el("button", {
    class: "record", type: "button", onclick: () => save(`${path}/clip`, `clip-${turn.task.id}.webm`, clip),
  }, "Download the last 20 seconds");
  turn.root.append(watch, clip);
  for (const { step, at, title } of chapters) {
    turn.steps.get(step)?.label?.after(el("button", {
      class: "seek", type: "button", "aria-label": `Play from ${clock(at)}: ${title}`, onclick: () => show(at),
    }, clock(at)));
  }
}

// filmRequest returns a button that records the turn's session from now on, where people may choose that.
export function filmRequest(turn) {
  const path = `/api/sessions/${encodeURIComponent(turn.task.session_id)}/film`;
  const button = el("button", { class: "ghost filming", type: "button", hidden: true });
  const draw = ({ on, possible }) => {
    button.hidden = !possible;
    button.textContent = on ? "Stop recording" : "Record";
    const failed = (error) => { button.textContent = error.message; };
    button.onclick = () => api("POST", path, { on: !on }).then(draw, failed);
  };
  api("GET", path).then(draw).catch(() => {});
  turn.stop.after(button);
  return button;
}
