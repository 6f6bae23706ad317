// Getting an element ready for input: found, in view, visible, still, enabled, and the thing under its own middle.

const locate = (a) => {
  try {
    return a.ref ? byRef(a.ref) : bySelector(a.selector);
  } catch (e) {
    if (e instanceof Failure) return null;
    throw e;
  }
};

const parentOf = (node) => node.assignedSlot ?? node.parentNode ?? node.host ?? null;

function within(node, ancestor) {
  for (let n = node; n; n = parentOf(n)) if (n === ancestor) return true;
  return false;
}

// describe names an element for a person: its role and name, and a hint of how the page calls it.
function describe(element) {
  resetNames();
  const role = roleOf(element, element.localName);
  const name = clip(nameOf(element, role), 80);
  const hint = element.localName + (element.id ? `#${element.id}` : element.classList.length ? `.${element.classList[0]}` : '');
  return { role, name, hint };
}

// describeCover names what lies on top: the nearest landmark or dialog around the hit that does not hold the element too.
function describeCover(hit, element) {
  let best = hit;
  for (let n = hit; n && !within(element, n); n = parentOf(n)) {
    if (n.nodeType !== Node.ELEMENT_NODE) continue;
    const role = roleOf(n, n.localName);
    if (role !== 'generic') {
      best = n;
      if (/dialog|banner|navigation|region|alert/.test(role)) break;
    } else if (n.id && roleOf(best, best.localName) === 'generic') {
      best = n;
    }
  }
  return { ...describe(best), ref: /^(html|body)$/.test(best.localName) ? '' : refOf(best) };
}

function deepestAt(doc, x, y) {
  let hit = doc.elementFromPoint(x, y);
  return hit && deepestIn(hit, x, y);
}

// deepestIn goes on from a hit into the shadow roots below it.
function deepestIn(hit, x, y) {
  for (let root = anyShadow(hit); root; root = anyShadow(hit)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

// wrappersOf are the boxes that libraries draw around a combobox, or around a box to check that has no size, the innermost first:
// they hold no other control, and are no larger than a field. Clicks on them are clicks on what they cover or stand for.
function wrappersOf(element) {
  const wrappers = [];
  if (!element.matches('[role=combobox]') && !(element.matches('[type=checkbox], [type=radio]') && !shown(element))) return wrappers;
  const most = 3 * Math.max(element.offsetHeight, 32);
  const other = (n) => n !== element && !n.closest('[hidden], [aria-hidden=true]');
  for (let n = parentOf(element); n?.nodeType === Node.ELEMENT_NODE && !/^(body|form|main)$/.test(n.localName); n = parentOf(n)) {
    if (n.offsetHeight > most || Array.from(n.querySelectorAll(CONTROLS)).some(other)) break;
    wrappers.push(n);
  }
  return wrappers;
}

const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea, [role=button], [role=link], [tabindex]:not([tabindex="-1"]), [contenteditable]';

// wraps says that what was hit is a part of such a box, and not a veil that begins in there.
function wraps(element, hit) {
  const inner = hit.getBoundingClientRect();
  return wrappersOf(element).some((wrapper) => {
    const outer = wrapper.getBoundingClientRect(); // one without a size may hold what is positioned
    return within(hit, wrapper) && inner.width <= outer.width + 8 && inner.height <= outer.height + 8;
  });
}

// accepts says whether input that lands on hit reaches the element: itself, what it holds, its label or wrapper, or the control that
// it is part of, where it lets input through.
function accepts(element, hit) {
  if (!hit) return false;
  if (within(hit, element)) return true;
  for (let n = hit; n; n = parentOf(n)) {
    if (n.localName === 'label' && n.control === element) return true;
  }
  if (wraps(element, hit)) return true;
  if (getComputedStyle(element).pointerEvents !== 'none') return false;
  const control = operated(element);
  return control !== element && within(hit, control);
}

// boxesOf are the boxes in which an element shows: its own, those of its content if its own have no size, or the part of a picture.
function boxesOf(element) {
  if (element.localName === 'area') return areaBox(element);
  const own = Array.from(element.getClientRects());
  if (own.length === 1 && element.matches('li, [role=treeitem]')) return [itemBox(element, own[0])];
  if (own.some((box) => box.width > 0 && box.height > 0)) return own;
  const { display, overflow } = getComputedStyle(element);
  if (display !== 'contents' && (own.length === 0 || overflow !== 'visible' || element.firstElementChild === null)) return own;
  const content = element.ownerDocument.createRange();
  content.selectNodeContents(element);
  return Array.from(content.getClientRects());
}

// itemBox is the box of an item of a list or tree without the items below it, for which a click in its middle would be.
function itemBox(item, box) {
  for (const below of item.querySelectorAll('li, [role=treeitem]')) {
    const { top, height } = below.getBoundingClientRect();
    if (height > 0 && top > box.top) return new DOMRect(box.x, box.y, box.width, Math.min(box.bottom, top) - box.top);
  }
  return box;
}

// areaBox is the box around an area of an image map, on its picture.
function areaBox(area) {
  const map = area.closest('map');
  const image = map && Array.from(map.getRootNode().querySelectorAll('img[usemap]')).find((i) => i.useMap === `#${map.name}`);
  if (!image) return [];
  const box = image.getBoundingClientRect();
  const at = (area.coords.match(/-?[\d.]+/g) ?? []).map(Number);
  if (area.shape === 'default' || at.length < 3) return [box];
  if (area.shape === 'circle') return [new DOMRect(box.left + at[0] - at[2] / 2, box.top + at[1] - at[2] / 2, at[2], at[2])];
  const xs = at.filter((_, i) => i % 2 === 0);
  const ys = at.filter((_, i) => i % 2 === 1);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  return [new DOMRect(box.left + left, box.top + top, Math.max(...xs) - left, Math.max(...ys) - top)];
}

// shownLabel is a label through which a control can be clicked that is not shown itself, or only as a point.
const shownLabel = (element) => labelsOf(element).find(shown);

// placed maps points of an embedded document's viewport to the one around its frame element, which styles may scale, turn or mirror.
// Its middle is the middle of the box around it.
function placed(owner) {
  let linear = new DOMMatrix();
  for (let n = owner; n; n = parentOf(n)) {
    if (n.nodeType !== Node.ELEMENT_NODE) continue;
    const { rotate, scale, transform } = getComputedStyle(n);
    if (transform !== 'none') linear = new DOMMatrix(transform).multiply(linear);
    if (scale !== 'none') linear = new DOMMatrix(`scale(${scale.split(' ', 2).join()})`).multiply(linear);
    if (/^[-\d.]+deg$/.test(rotate)) linear = new DOMMatrix(`rotate(${rotate})`).multiply(linear);
  }
  const { a, b, c, d } = linear;
  const { offsetWidth: width, offsetHeight: height } = owner;
  const box = owner.getBoundingClientRect();
  const style = getComputedStyle(owner);
  const zoom = box.width / (Math.abs(a) * width + Math.abs(c) * height) || 1;
  return new DOMMatrix([a * zoom, b * zoom, c * zoom, d * zoom, box.left + box.width / 2, box.top + box.height / 2]).translate(
    owner.clientLeft + parseFloat(style.paddingLeft) - width / 2, owner.clientTop + parseFloat(style.paddingTop) - height / 2);
}

// climb maps a point of a document to the local root's viewport; embedding frames must be hit there too.
function climb(doc, x, y, covered) {
  for (let view = doc.defaultView; view !== window; view = doc.defaultView) {
    const owner = view.frameElement;
    ({ x, y } = placed(owner).transformPoint({ x, y }));
    doc = owner.ownerDocument;
    if (covered) {
      const hit = deepestAt(doc, x, y);
      if (hit !== owner) return { hit };
    }
  }
  return { x, y };
}

const POINTS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]];

// aim finds a point of the element that takes input. Returns {x, y}, {off: true} when scrolling may help, or {hit}.
function aim(element, hitTest) {
  const view = element.ownerDocument.defaultView;
  const width = view.innerWidth;
  const height = view.innerHeight;
  let result = { off: true };
  for (const box of boxesOf(element)) {
    const left = Math.max(box.left, 0);
    const top = Math.max(box.top, 0);
    const right = Math.min(box.right, width);
    const bottom = Math.min(box.bottom, height);
    if (right - left < (Math.min(1, box.width) || 1) || bottom - top < (Math.min(1, box.height) || 1)) continue;
    for (const [fx, fy] of POINTS) {
      const x = left + (right - left) * fx;
      const y = top + (bottom - top) * fy;
      if (!hitTest) return climb(element.ownerDocument, x, y, false);
      const hit = deepestAt(element.ownerDocument, x, y);
      if (!accepts(element, hit)) {
        if (result.off) result = { hit };
        continue;
      }
      const point = climb(element.ownerDocument, x, y, true);
      if ('x' in point) return point;
      result = point;
    }
  }
  return result;
}

// scrollerOf finds what the wheel over an element scrolls along an axis (x or y): the element, what it lies in, or the document.
function scrollerOf(element, axis) {
  const [size, room, overflow] = axis === 'x' ? ['scrollWidth', 'clientWidth', 'overflowX'] : ['scrollHeight', 'clientHeight', 'overflowY'];
  const root = element.ownerDocument.scrollingElement ?? element.ownerDocument.documentElement;
  for (let n = element; n && n !== root; n = parentOf(n)) {
    if (n[size] > n[room] && /auto|scroll/.test(getComputedStyle(n)[overflow])) return n;
  }
  return root;
}

function shown(element) {
  const boxless = element.localName === 'area' || getComputedStyle(element).display === 'contents';
  if (!boxless && !element.checkVisibility(SEEN)) return false;
  return boxesOf(element).some((box) => box.width > 0 && box.height > 0);
}

const boxKey = (element) => {
  const b = boxesOf(element)[0] ?? element.getBoundingClientRect();
  return `${b.left},${b.top},${b.width},${b.height}`;
};

// animated says that a running animation or transition may be moving the element.
function animated(element) {
  for (const animation of element.ownerDocument.getAnimations()) {
    const target = animation.effect?.target;
    if (target && animation.playState === 'running' && within(element, target)) return true;
  }
  return false;
}

// reachableAs is what input for an element is aimed at: the element, or the label or wrapper that shows it.
function reachableAs(element, a) {
  if (a.hit && element.editContext && !shown(element)) { // what it holds is drawn by what is around it
    for (let n = element; n; n = parentOf(n)) if (n.nodeType === Node.ELEMENT_NODE && shown(n)) return n;
  }
  if (!a.hit || !element.matches('input, select, button, textarea')) return element;
  if (shown(element) && !isPoint(element) && !isOutside(element)) return element;
  return shownLabel(element) ?? wrappersOf(element).find((n) => shown(n) && !isPoint(n)) ?? element;
}

// isOutside says that a combobox is left of all that the page can be scrolled to: its wrapper shows it.
function isOutside(element) {
  if (!element.matches('[role=combobox]')) return false;
  const { scrollX, innerWidth, document: { documentElement: root } } = element.ownerDocument.defaultView;
  return element.getBoundingClientRect().right + scrollX <= Math.min(0, innerWidth - root.scrollWidth);
}

// isPoint says that an element is clipped to nothing, as what is meant for screen readers alone is.
function isPoint(element) {
  const style = getComputedStyle(element);
  if (/^rect\(0px,? 0px,? 0px,? 0px\)$/.test(style.clip) || /^inset\((50|100)%\)$/.test(style.clipPath)) return true;
  const box = element.getBoundingClientRect();
  return box.width <= 1 && box.height <= 1 && style.overflow === 'hidden';
}

// isTapped says that only fingers set an element off. Links and fields react to the mouse without listeners.
const isTapped = (element) => touched.has(element) && !element.matches('a[href], input, select, textarea, label, summary');

const ALIGN = ['center', 'center', 'end', 'start'];

// ready waits until input can reach the element and returns the point in the local root's viewport. One pass suffices for
// an element that is in view and at rest; anything else is looked at again frame by frame until the time is over.
FUNCTIONS.ready = async (a) => {
  const deadline = performance.now() + a.timeout;
  const started = performance.now();
  let reason = { code: 'missing' };
  let last = '';
  let scrolls = 0;
  for (let pass = 0; ; pass++) {
    const found = a.ref ? byRef(a.ref) : bySelector(a.selector);
    const element = found && (a.axis ? scrollerOf(found, a.axis) : reachableAs(found, a));
    if (element) {
      const fail = (code, more) => { reason = { code, ...describe(element), ...more }; };
      const box = boxKey(element);
      const still = box === last;
      last = box;
      if (!shown(element)) {
        fail('hidden');
      } else if (a.hit && isPoint(element)) {
        fail('clipped');
      } else if (a.enabled && (isDisabled(element) || isDisabled(found))) {
        fail('disabled');
      } else if (!still && (a.strict || pass > 0 || animated(element))) {
        fail('moving');
      } else {
        const point = aim(element, a.hit);
        if ('x' in point) {
          if (a.guard) guard(element);
          return { x: point.x, y: point.y, tap: isTapped(element) };
        }
        fail('covered', point.hit ? { by: describeCover(point.hit, element) } : { by: null });
        if (scrolls < ALIGN.length && !a.stay) {
          const align = ALIGN[scrolls++];
          element.scrollIntoView({ block: align, inline: 'center', behavior: 'instant' });
          last = boxKey(element);
          if (a.remote || a.strict) {
            // Input for another process is routed by what was last painted. After a miss, the page hears of scrolling before the mouse.
            await rendered(deadline);
            await rendered(deadline);
          }
          const again = aim(element, a.hit);
          if ('x' in again && !a.strict) {
            if (a.guard) guard(element);
            return { x: again.x, y: again.y, tap: isTapped(element) };
          }
          continue;
        }
      }
    } else if (performance.now() - started > (a.patience ?? 2000)) {
      throw new Failure('missing');
    }
    if (idle || performance.now() >= deadline || !await rendered(deadline)) throw new Failure(reason.code, reason);
  }
};

// guard watches whether the next press lands on the element. A press that lands elsewhere (the element moved in the last
// milliseconds) is swallowed before the page sees it, so that nothing else is clicked.
let watching = null;
const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu'];

// saves says that a click has Chromium download what a link names. It tells nobody before the server has answered.
const saves = (event) => event.type === 'click' &&
  event.composedPath().some((node) => node.localName === 'a' && node.hasAttribute('download') && node.href);

// PROMISES is how people call what gives them a file. Scripts that make one themselves leave no other trace until it is there.
const PROMISES = /download|export|csv|xlsx|herunterladen|télécharger|descargar|baixar|scarica|скачать|下载|下載|ダウンロード|다운로드/i;

function guard(element) {
  unguard();
  const view = element.ownerDocument.defaultView;
  const { name, hint } = describe(element);
  watchForms(view);
  const state = { outcome: '', view, download: PROMISES.test(`${name} ${hint}`), over: false };
  state.listen = (event) => {
    if (saves(event)) state.download = true;
    if (!event.isTrusted || state.over) return;
    if (!state.outcome) {
      let target = event.composedPath()[0];
      // A path does not tell what lies in a closed root.
      if (closedRoots.has(target)) target = deepestIn(target, event.clientX, event.clientY);
      state.outcome = target instanceof Node || target?.nodeType ? (accepts(element, target) ? 'hit' : 'miss') : 'hit';
    }
    if (state.outcome === 'miss') {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  for (const type of PRESSES) view.addEventListener(type, state.listen, { capture: true });
  watching = state;
}

function unguard() {
  if (!watching) return;
  for (const type of PRESSES) watching.view.removeEventListener(type, watching.listen, { capture: true });
  watching = null;
}

// Keys and buttons that were let go here since the last action, and texts that were put in, by the time they were sent. Input
// overtakes our scripts: it is mostly noted before anybody asks for it.
let released = [];
let onRelease = null;
const noteRelease = (event) => {
  if (!event.isTrusted) return;
  released.push(event);
  if (released.length > 40) released.shift();
  onRelease?.();
};
for (const type of ['keyup', 'mouseup', 'input']) addEventListener(type, noteRelease, { capture: true });

// rejected is the field for which the browser has not sent a form that a click or Enter was to send. No event tells of it outside of
// the form's shadow root.
let submitting = null;
let rejected = null;
const noteRejected = ({ target, timeStamp: at }) => {
  if (submitting && (target.form ?? target.closest('form')) === submitting) rejected ??= { field: target, at };
};
const noteSubmitting = (event) => {
  submitting = event.composedPath().find((node) => node.form && /^(submit|image)$/.test(node.type))?.form ?? null;
  submitting?.getRootNode().addEventListener('invalid', noteRejected, { capture: true });
};
const watchForms = (view) => view.addEventListener('click', noteSubmitting, { capture: true });
watchForms(window);

// takeRejected describes that field, or the one inside it, and what the browser says of it beside it, if it has the focus: pages
// that only ask for the validity do not give it.
function takeRejected() {
  const { field, at } = rejected ?? {};
  rejected = null;
  if (!field?.matches(':invalid') || performance.now() - at > 2000) return null;
  const active = deepActive(field.ownerDocument);
  if (!active || !within(active, field)) return null;
  return { ...describe(active), text: personal.has(active) || isSecret(active) ? '' : active.validationMessage };
}

// inputTaken resolves when all keys and buttons of the numbered input have been let go here and its text is put in, or when the
// driver says that the browser has seen to them: they may go to another frame, or the page may keep them from us.
let taken = 0;
const inputTaken = (a) => idle ? Promise.resolve() : new Promise((resolve) => {
  const since = performance.now() - 1000; // older ones are somebody else's
  const arrived = (text) => // clicks on boxes and choices in lists put nothing in
    released.filter((event) => event.timeStamp > since && (text ? event.inputType : event.type !== 'input')).length;
  onRelease = () => {
    if (taken < a.input && (a.ups + a.texts === 0 || arrived(false) < a.ups || arrived(true) < a.texts)) return;
    onRelease = null;
    resolve();
  };
  onRelease();
});

FUNCTIONS.taken = (input) => {
  taken = input;
  onRelease?.();
  return true;
};

// settled lets what the input set off run: messages and timers that are due, and a frame if it goes on changing the document.
// What the page draws with its next frame is waited for by those who look at it, see drawn.
FUNCTIONS.settled = async (a) => {
  if (idle) return { outcome: 'untold', download: false, title: document.title };
  if (a.input) await inputTaken(a);
  const made = a.edit ? edit : null;
  edit = null;
  const guarded = watching ?? { outcome: '', download: false };
  let changed = false;
  const observer = new MutationObserver(() => { changed = true; });
  observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  await turn(); // the event that told us may still be on its way to the page's listeners, and a click follows it
  released = [];
  guarded.over = true;
  made?.taken?.();
  await new Promise((resolve) => setTimeout(resolve, 0)); // in line behind the page's own
  const drawing = rendered().then(turn);
  drawn = drawing;
  drawing.then(() => { if (drawn === drawing) drawn = null; });
  if (a.frame) await drawing;
  for (let i = 0; changed && i < 3; i++) {
    changed = false;
    await rendered();
  }
  observer.disconnect();
  if (watching === guarded) unguard();
  made?.settled?.();
  return { outcome: guarded.outcome, download: guarded.download, title: document.title, rejected: takeRejected() };
};

// painted waits until what has come into view is drawn. A document that rendered nothing while out of view renders now. The
// second frame begins when the first has been handed over.
FUNCTIONS.painted = async () => {
  renders = true;
  await rendered();
  await rendered();
  return true;
};

// drawn is pending until the page has drawn what the last input led to.
let drawn = null;

// look reads the page once that is so.
const look = (read) => (drawn ? drawn.then(read) : read());

// refOf is called by the driver with the element that embeds a frame of another process.
FUNCTIONS.refOf = (element) => refOf(element);

// refsOf names the elements of nodes for the driver: of a text the one it is in, of a document its root, of what makes up a
// field the field. A "!" before it says that what the field holds is not to be told.
FUNCTIONS.refsOf = (nodes) => nodes.map((node) => {
  let element = node.nodeType === 1 ? node : node.nodeType === 9 ? node.documentElement : parentOf(node);
  const host = element?.getRootNode().host;
  if (host && /^(input|textarea)$/.test(host.localName)) element = host;
  if (element?.nodeType !== 1 || !element.isConnected) return '';
  return (isSecret(element) ? '!' : '') + refOf(element);
}).join(' ');

// strays tells of a press in the document around a frame that was meant for the one inside: Chromium sends input for other
// processes to where they were when last drawn.
let strays = null;
const watchStrays = (owner) => {
  strays?.end.abort();
  const state = strays = { end: new AbortController(), seen: false };
  const note = (event) => { state.seen ||= event.isTrusted; };
  owner.ownerDocument.defaultView.addEventListener('pointerdown', note, { capture: true, signal: state.end.signal });
};

// strayed says whether a press came here since embed was called.
FUNCTIONS.strayed = () => {
  const seen = strays?.seen === true;
  strays?.end.abort();
  strays = null;
  return seen;
};

// embed maps a point of an embedded document's viewport to this document's local root, through the frame element a.ref, and
// watches for presses that stray from there.
FUNCTIONS.embed = (a) => {
  const owner = byRef(a.ref);
  watchStrays(owner);
  const point = placed(owner).transformPoint({ x: a.x, y: a.y });
  const hit = deepestAt(owner.ownerDocument, point.x, point.y);
  if (hit !== owner) {
    if (!hit) throw new Failure('away', {});
    throw new Failure('covered', { by: describeCover(hit, owner) });
  }
  const up = climb(owner.ownerDocument, point.x, point.y, true);
  if (!('x' in up)) throw new Failure('covered', { by: up.hit ? describe(up.hit) : null });
  return up;
};

FUNCTIONS.show = async (a) => {
  const element = byRef(a.ref);
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  await rendered();
  await rendered();
  return true;
};

FUNCTIONS.box = (a) => {
  const element = byRef(a.ref);
  if (!shown(element)) throw new Failure('hidden', describe(element));
  element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  const b = element.getBoundingClientRect();
  const corner = climb(element.ownerDocument, b.left, b.top, false);
  const far = climb(element.ownerDocument, b.right, b.bottom, false);
  return { x: corner.x, y: corner.y, width: far.x - corner.x, height: far.y - corner.y };
};

FUNCTIONS.describe = (a) => {
  const element = a.ref ? byRef(a.ref) : bySelector(a.selector);
  if (!element) throw new Failure('missing');
  return describe(element);
};

FUNCTIONS.scrollArea = (a) => {
  const { clientWidth: width, clientHeight: height } = scrollerOf(a.ref ? byRef(a.ref) : bySelector(a.selector), a.axis);
  return { width, height };
};

FUNCTIONS.viewport = () => ({
  width: window.innerWidth, height: window.innerHeight, x: window.scrollX, y: window.scrollY,
  fullWidth: document.documentElement?.clientWidth ?? 0, fullHeight: document.documentElement?.scrollHeight ?? 0,
});
