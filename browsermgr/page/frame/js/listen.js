// Elements that scripts of the page listen to clicks on. Only DevTools shows listeners: the driver tells of them.

// HEARD is why such an element can be clicked. One that holds much listens for what is in it, as the root of an application does.
const HEARD = 'listener';
const HOLDS = 24;
const CONTROLS = 'a[href], button, input, select, textarea, [role], [tabindex]';
const CONTROLS_LIMIT = 2;

let listening = new Map(); // by the driver's number
let heard = new WeakSet();

const hears = (element) => heard.has(element) && element.getElementsByTagName('*').length <= HOLDS &&
  element.querySelectorAll(CONTROLS).length <= CONTROLS_LIMIT;

// heardAlone says that nothing else would give a ref to an element.
function heardAlone(element) {
  if (!attached(element) || !element.checkVisibility(SEEN)) return false;
  const tag = element.localName;
  if (INTERACTIVE.has(roleOf(element, tag))) return false;
  const around = element.parentElement ? getComputedStyle(element.parentElement).cursor : '';
  return promotion(element, tag, getComputedStyle(element).cursor, around, false) === HEARD;
}

// listen takes the numbers of all that are listened to, and those that are new with their elements. It answers whether a
// snapshot would show what changed.
FUNCTIONS.listen = ([all, fresh, ...elements]) => {
  const before = listening;
  listening = new Map();
  for (const number of all) {
    if (before.has(number)) listening.set(number, before.get(number));
  }
  const gone = Array.from(before.values()).filter((element) => hears(element) && attached(element));
  elements.forEach((element, i) => {
    if (element?.nodeType === 1) listening.set(fresh[i], element);
  });
  heard = new WeakSet(listening.values());
  return gone.some((element) => !heard.has(element)) || elements.some((element) => heard.has(element) && heardAlone(element));
};
