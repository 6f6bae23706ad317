// What style sheets tell of scripts and the mouse: what shows only while it is over something, and that Dragula sorts.

// opening are the elements walked over that show more while the mouse is over them.
let opening = new Set();

// sorting says that the document walked over has the style sheet of Dragula, which listens on the root element alone.
let sorting = false;

// readSheets tells of style sheets which selectors show more, with what they show, and whether one is Dragula's.
const readSheets = new WeakMap();
const sheetsOf = (root) => [...root.styleSheets, ...root.adoptedStyleSheets];
const SHOWING = ['display', 'visibility', 'opacity'];

// SHEET_RULES is how many rules of a style sheet are read; TRIALS, about how many elements are tried against selectors.
const SHEET_RULES = 10000;
const TRIALS = 500000;

function readSheet(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return { list: [], sorts: false, foreign: true };
  }
  const before = readSheets.get(sheet);
  if (before?.count === rules.length) return before;
  const found = { count: rules.length, list: [], sorts: false };
  let left = SHEET_RULES;
  const read = (rules) => {
    for (const rule of rules) {
      if (left-- <= 0) return;
      const selectors = rule.selectorText;
      if (selectors === undefined && rule.cssRules) read(rule.cssRules);
      if (selectors === '.gu-mirror') found.sorts = true;
      if (!selectors?.includes(':hover') || !SHOWING.some((name) => rule.style.getPropertyValue(name))) continue;
      for (const selector of selectors.split(',')) {
        const [, base, shows] = /^([^()]*):hover\s*((?:>| )[^()+~]+)$/.exec(selector.trim()) ?? [];
        const over = /(^|[ >+~])$/.test(base ?? '') ? `${base} *` : base;
        if (!shows || !CSS.supports(`selector(${over})`) || !CSS.supports(`selector(${over} ${shows})`)) continue;
        found.list.push({ over, part: `${over} ${shows}`, classes: selector.replace(/\[[^\]]*\]/g, '').match(/\.(?:\\.|[\w-]|[^\x00-\x7f])+/g)?.map(unescaped) ?? [] });
      }
    }
  };
  read(rules);
  readSheets.set(sheet, found);
  return found;
}

// unescaped is the name of a class in a selector. One with an escaped code point is not unescaped.
const unescaped = (name) => name.slice(1).replace(/\\([^0-9a-f])/gi, '$1');

// classesOf are the names of the classes that elements below a root have.
function classesOf(root) {
  const values = new Set();
  for (const element of root.querySelectorAll('[class]')) values.add(element.getAttribute('class'));
  return new Set(Array.from(values).flatMap((value) => value.split(/\s+/)));
}

// CLICKED says that a click opens something.
const CLICKED = 'button, input, summary, [aria-expanded], [aria-controls], [data-toggle], [data-bs-toggle]';

// mayOpen finds the items of lists that hide links in them. Where sheets of other origins cannot be read, these are taken to show on
// hover what no click opens.
function mayOpen(root) {
  const parts = Array.from(root.querySelectorAll('li > ul, li > ol, li > div')).slice(0, SUSPECTS);
  const items = parts.filter((part) => part.querySelector('a[href]') && !part.checkVisibility({ ...SEEN, opacityProperty: true }) &&
    part.parentElement.checkVisibility(SEEN)).map((part) => part.parentElement);
  return items.filter((item) => ![item, ...item.children].some((e) => e.matches(CLICKED) || heard.has(e)));
}

// opensOnHover finds what shows more on hover in a document or shadow root.
function opensOnHover(root) {
  const sheets = sheetsOf(root).map(readSheet);
  const found = new Set(sheets.some((sheet) => sheet.foreign) ? mayOpen(root) : []);
  let list = sheets.flatMap((sheet) => sheet.list);
  if (list.length === 0) return found;
  const most = Math.ceil(TRIALS / root.querySelectorAll('*').length);
  if (list.length > most) { // as those of utility classes, most of which no element has
    const used = classesOf(root);
    list = list.filter(({ classes }) => classes.every((name) => used.has(name) || name.includes('\\'))).slice(0, most);
  }
  for (const { over, part } of list) {
    const parts = root.querySelectorAll(part);
    for (let i = 0; i < parts.length && i < SUSPECTS; i++) {
      const element = parts[i].parentElement?.closest(over);
      if (element && !parts[i].checkVisibility({ ...SEEN, opacityProperty: true }) && element.checkVisibility(SEEN)) found.add(element);
    }
  }
  return found;
}
