// Shows what people are asked on every page. One page of this browser hears of it and tells the others: a browser opens
// few connections to one address.
import { api, follow } from "./api.js";
import { answered, ask, askAll, onTakeOver } from "./questions.js";

const others = new BroadcastChannel("clank-questions");

function hear([name, data]) {
  if (name === "snapshot") askAll(data.questions);
  else if (data.over) answered(data);
  else ask(data.question);
}

onTakeOver((session) => location.assign(`/s/${encodeURIComponent(session)}`));
others.addEventListener("message", ({ data }) => hear(data));
navigator.locks.request("clank-questions", () => follow("/api/events?questions=1", (...event) => {
  hear(event);
  others.postMessage(event);
}, () => {}));
api("GET", "/api/questions").then((waiting) => waiting.forEach(ask), () => {}); // what comes later is heard
