// Elements that scripts of the page listen to clicks and drops on. Only DevTools shows listeners: the driver tells of them.

// HEARD is why such an element can be acted on. One that holds much listens for what is in it, as the root of an application does.
const HEARD = 'listener';
const HOLDS = 300;

// What the driver's numbers say of an element beside which it is.
const CLICKS = 1;
const DROPS = 2;
const TOUCH = 4;

let listening = new Map(); // by the driver's number
let heard = new WeakSet(); // to clicks and touches
let touched = new WeakSet(); // to touches alone
let dropping = new WeakSet();
let drawings = new WeakSet(); // those that hold parts that are listened to

const hears = (element) => heard.has(element) && element.localName !== 'body' && element.localName !== 'html' && element.getElementsByTagName('*').length <= HOLDS;

// heardAlone says that nothing else would give a ref to an element.
function heardAlone(element) {
  if (!attached(element) || !element.checkVisibility(SEEN)) return false;
  if (drops(element) || element.ownerSVGElement) return true;
  const tag = element.localName;
  if (tag === 'a' && !element.hasAttribute('href')) return true; // it is a link now
  const role = roleOf(element, tag);
  if (INTERACTIVE.has(role)) return false;
  const around = element.parentElement ? getComputedStyle(element.parentElement).cursor : '';
  return promotion(element, tag, getComputedStyle(element).cursor, around, false, false) === HEARD ||
    (DELEGATES.has(role) && (role !== 'generic' || element.querySelector('svg text') !== null));
}

// listen takes the numbers of all that are listened to, and those that are new with their elements. It answers whether a
// snapshot would show what changed.
FUNCTIONS.listen = ([all, fresh, ...elements]) => {
  const before = listening;
  listening = new Map();
  dragging = new Map();
  for (const number of all) {
    if (before.has(number)) listening.set(number, before.get(number));
  }
  const gone = Array.from(before.values()).filter((element) => attached(element) && (hears(element) || dropping.has(element)));
  elements.forEach((element, i) => {
    if (element?.nodeType === 1) listening.set(fresh[i], element);
  });
  heard = new WeakSet();
  touched = new WeakSet();
  dropping = new WeakSet();
  drawings = new WeakSet();
  for (const [number, element] of listening) {
    if (number & (CLICKS | TOUCH)) heard.add(element);
    if (number & TOUCH && !(number & CLICKS)) touched.add(element);
    if (number & DROPS) dropping.add(element);
    for (let svg = element.ownerSVGElement; svg; svg = svg.ownerSVGElement) drawings.add(svg);
  }
  unseenOutside = false;
  const known = (element) => heard.has(element) || dropping.has(element);
  return gone.some((element) => !known(element)) || elements.some((element) => element && known(element) && heardAlone(element)) || unseenOutside;
};
