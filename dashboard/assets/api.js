// Calls of the API. Every failure is an Error whose message is for people.

// sentence makes a sentence of a message. Names that begin it, such as clank or that of a setting, stay as they are.
export function sentence(text) {
  const begun = /^(?!clank\b)[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

export class APIError extends Error {
  constructor(status, body) {
    super(sentence(body?.error || `clank answered with status ${status}`));
    this.status = status;
    this.body = body;
  }
}

// The key that opens clank lies in the storage of this address and port. A cookie would be sent to whatever listens on
// any port of this machine.
const keyName = "clank-key";
export const keepKey = (key) => localStorage.setItem(keyName, key);
export const key = () => localStorage.getItem(keyName) ?? "";

// send fetches with the key.
function send(path, options = {}) {
  return fetch(path, { ...options, headers: { ...options.headers, Authorization: `Bearer ${key()}` } });
}

// request sends and returns the answer, or throws why there is none.
async function request(path, options) {
  const response = await send(path, options).catch(() => {
    throw new Error("clank cannot be reached. Is it still running?");
  });
  if (response.status === 401 && !location.pathname.startsWith("/login")) location.replace("/login");
  if (!response.ok) throw new APIError(response.status, await response.json().catch(() => null));
  return response;
}

export async function api(method, path, body) {
  const response = await request(path, {
    method,
    headers: method === "GET" ? {} : { "Content-Type": "application/json" },
    body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    signal: AbortSignal.timeout(30_000),
  });
  return response.status === 204 ? null : response.json();
}

// upload sends a file for a task, and returns what clank knows of it.
export async function upload(file, signal) {
  const response = await request(`/api/files?${new URLSearchParams({ name: file.name })}`, {
    method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file, signal,
  });
  return response.json();
}

// load returns what is at a path, such as a picture: an element that is given the path would ask without the key.
export const load = async (path) => (await request(path)).blob();

// page returns what the server answers with at the address of a page, readPage its HTML.
export const page = (path) => request(path);
export const readPage = async (path) => (await page(path)).text();

// readEvents hands the events of an answer to heard until it ends.
async function readEvents(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split("\n\n");
    rest = events.pop();
    for (const event of events) heard(Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/))));
  }
}

// stream asks for something that answers with events until it is done, or signal ends it. An answer of another kind is returned.
export async function stream(path, heard, signal, asked = {}) {
  const answer = await request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal });
  if (!answer.headers.get("Content-Type").startsWith("text/event-stream")) return answer.json();
  await readEvents(answer.body, ({ event, data }) => { if (data) heard(event, JSON.parse(data)); });
}

// Whoever signs out asks for no stream any more, and gives up those that are being asked for: they would be refused.
let leaving = false, followed = new AbortController();
export function setLeaving(is) {
  leaving = is;
  if (is) followed.abort();
  else followed = new AbortController();
}

// follow reads a stream of events for as long as the page lives. After a break it goes on from where it was. heard is
// given the name and the data of each event, online whether there is a connection.
export async function follow(path, heard, online) {
  for (let last = ""; ; await new Promise((again) => setTimeout(again, 2000))) {
    if (leaving) continue;
    try {
      const { body } = await request(path, { headers: last ? { "Last-Event-ID": last } : {}, signal: followed.signal });
      online(true);
      await readEvents(body, ({ id, event: name, data }) => {
        last = id ?? last;
        if (data) queueMicrotask(() => heard(name, JSON.parse(data))); // what fails in there does not end the stream
      });
    } catch { /* it is tried again */ }
    online(false);
  }
}
