// Installed once in the isolated world of each local root document, inside a function whose parameter is TOKEN.
// It keeps what refs mean and answers calls of the driver: __clank(token, name, argument).

const FUNCTIONS = Object.create(null);

// A failure is an expected "no" that the driver puts into words; anything else thrown is a defect.
class Failure {
  constructor(code, detail = {}) {
    this.fail = { code, ...detail };
  }
}

// Documents of this process: the root is number 0, frames get 1, 2, … when first met. Each counts its own refs.
const documents = new WeakMap();
let documentCount = 0;

function documentEntry(doc) {
  let entry = documents.get(doc);
  if (!entry) {
    const number = doc === document ? 0 : ++documentCount;
    entry = { prefix: number ? `f${number}e` : 'e', last: 0 };
    documents.set(doc, entry);
    entriesByPrefix.set(entry.prefix, entry);
  }
  return entry;
}
const entriesByPrefix = new Map();

// An element keeps its ref for as long as it lives; the other direction holds only connected elements.
const refByElement = new WeakMap();
const elementByRef = new Map();

function refOf(element) {
  let ref = refByElement.get(element);
  if (ref === undefined) {
    const entry = documentEntry(element.ownerDocument);
    ref = entry.prefix + ++entry.last;
    refByElement.set(element, ref);
  }
  elementByRef.set(ref, element);
  return ref;
}

// Closed shadow roots that the driver has opened for us, by host, and the hosts that it was asked about.
const closedRoots = new WeakMap();
const asked = new WeakMap(); // to whether the element's class was defined then: that may attach a root
let suspects = [];
let handed = []; // suspects that the driver is looking at, as entries of asked

const anyShadow = (element) => element.shadowRoot ?? closedRoots.get(element) ?? null;

const embeds = new WeakSet(); // <embed>s that show a document

// adopt takes the closed root of a host, or an <embed> that shows a document. The host's wrapper is kept by its root,
// and the root by its host.
FUNCTIONS.adopt = ([host, root]) => {
  if (root) closedRoots.set(host, root);
  else embeds.add(host);
  return true;
};

// hosts hands the driver the elements that may have a closed root, as they are.
function hosts() {
  const list = suspects;
  suspects = [];
  handed = list.map((element) => [element, element.matches(':defined')]);
  return list;
}

// answered says that the driver has looked at all of them. If its time was over before, they are suspects again.
FUNCTIONS.answered = () => {
  for (const [element, defined] of handed) asked.set(element, defined);
  handed = [];
  return true;
};

// What custom elements say of themselves by ElementInternals, as the driver found it in Chromium's own tree: role, name, value and
// states. null for those that say nothing.
const internals = new WeakMap();
let custom = []; // those to ask about

// mayTell says that an element may have a role that no markup shows, and that the driver was not asked yet.
const mayTell = (element, tag) => tag.includes('-') && !element.hasAttribute('role') && !internals.has(element) && element.matches(':defined');

// tell takes what the driver found, and answers whether a snapshot would show something new.
FUNCTIONS.tell = (found) => {
  let news = false;
  custom.forEach((element, i) => {
    const said = KNOWN.has(found[i]?.role) && found[i].role !== 'generic' ? found[i] : null;
    news ||= JSON.stringify(said) !== JSON.stringify(internals.get(element) ?? null);
    internals.set(element, said);
  });
  custom = [];
  return news;
};

const attached = (element) => element.isConnected && element.ownerDocument.defaultView !== null;

function forgetGoneElements() {
  for (const [ref, element] of elementByRef) {
    if (!attached(element)) elementByRef.delete(ref);
  }
}

// byRef finds the very element a ref was given to, never a substitute.
function byRef(ref) {
  const element = elementByRef.get(ref);
  if (element && attached(element)) return element;
  const [, prefix, number] = /^((?:f\d+)?e)(\d+)$/.exec(ref) ?? [];
  const entry = entriesByPrefix.get(prefix);
  throw new Failure(entry && Number(number) <= entry.last ? 'gone' : 'unknown');
}

// bySelector finds the first match in document order, entering shadow roots when the plain search finds nothing.
function bySelector(selector, root = document) {
  let found;
  try {
    found = root.querySelector(selector);
  } catch {
    throw new Failure('selector');
  }
  if (found) return found;
  for (const host of root.querySelectorAll('*')) {
    const inner = anyShadow(host);
    if (inner && (found = bySelector(selector, inner))) return found;
  }
  return null;
}

// A turn of the event loop; frame() is a rendered frame (true), or some milliseconds where nothing is rendered (false).
const turn = () => idle ? Promise.resolve() : new Promise((resolve) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    channel.port1.close();
    resolve();
  };
  channel.port2.postMessage(0);
});

// idle says that this document runs no scripts but ours (a sandbox without allow-scripts): it has no timers and hears no events,
// so that nothing can be waited for and nothing in it changes by itself.
const idle = (() => {
  if (!(document instanceof HTMLDocument)) return origin === 'null'; // the parser of XML does not tell
  const probe = document.createElement('i');
  try {
    probe.innerHTML = '<noscript><b></b></noscript>';
  } catch {
    return false; // the page allows trusted types only, so it has scripts
  }
  return probe.querySelector('b') !== null; // what scripts replace is there
})();

const frame = (limit = 50) => idle ? Promise.resolve(false) : new Promise((resolve) => {
  const timer = setTimeout(() => resolve(false), limit);
  requestAnimationFrame(() => {
    clearTimeout(timer);
    renders = true;
    resolve(true);
  });
});
let renders = true; // the last frame that rendered() waited for came

// rendered is a frame for those who need what it draws, which may come late on a busy machine. Only a document that has kept them
// waiting is taken for one that renders nothing, until it does. It answers false if the deadline came first.
const rendered = async (deadline = Infinity) => {
  const patience = renders && !document.hidden ? 1000 : 50;
  const left = deadline - performance.now();
  if (await frame(Math.min(patience, left))) return true;
  if (patience <= left) renders = false;
  return patience <= left;
};

// until waits for what a page may do with its next frames: for some milliseconds, and not less than three frames.
const until = async (done) => {
  const end = performance.now() + 300;
  for (let frames = 0; !done() && !idle && (frames < 3 || performance.now() < end); frames++) await rendered();
};

// squeeze collapses white space and drops invisible characters. Most text needs neither.
const UNTIDY = /^\s|\s$|\s\s|[^\S ]|[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/;
const UNSEEN = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const squeeze = (text) => (UNTIDY.test(text) ? text.replace(UNSEEN, '').replace(/\s+/g, ' ').trim() : text);

const reply = (name, run) => {
  const failed = (e) => {
    if (e instanceof Failure) return { fail: e.fail };
    throw e;
  };
  try {
    const value = run();
    return value instanceof Promise ? value.then((v) => ({ value: v }), failed) : { value };
  } catch (e) {
    return failed(e);
  }
};

function answerCall(token, name, argument) {
  if (token !== TOKEN) return { lost: true };
  if (name === 'element') return locate(argument);
  if (name === 'hosts') return hosts();
  if (name === 'custom') return custom;
  return reply(name, () => FUNCTIONS[name](argument));
}

FUNCTIONS.ping = () => true;
