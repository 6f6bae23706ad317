// What shows only while the mouse is over something, by style sheets.

// opening are the elements walked over that show more while the mouse is over them.
let opening = new Set();

// overs tells of style sheets which selectors do that, with what they show.
const overs = new WeakMap();
const SHOWING = ['display', 'visibility', 'opacity'];

// SHEET_RULES is how many rules of a style sheet are read; TRIALS, about how many elements are tried against selectors.
const SHEET_RULES = 10000;
const TRIALS = 500000;

function oversOf(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return []; // of another origin
  }
  const known = overs.get(sheet);
  if (known?.count === rules.length) return known.list;
  const list = [];
  let left = SHEET_RULES;
  const read = (rules) => {
    for (const rule of rules) {
      if (left-- <= 0) return;
      const selectors = rule.selectorText;
      if (selectors === undefined && rule.cssRules) read(rule.cssRules);
      if (!selectors?.includes(':hover') || !SHOWING.some((name) => rule.style.getPropertyValue(name))) continue;
      for (const selector of selectors.split(',')) {
        const [, before, shows] = /^([^()]*):hover\s*((?:>| )[^()+~]+)$/.exec(selector.trim()) ?? [];
        const over = /(^|[ >+~])$/.test(before ?? '') ? `${before} *` : before;
        if (!shows || !CSS.supports(`selector(${over})`) || !CSS.supports(`selector(${over} ${shows})`)) continue;
        list.push({ over, part: `${over} ${shows}`, classes: selector.replace(/\[[^\]]*\]/g, '').match(/\.(?:\\.|[\w-]|[^\x00-\x7f])+/g)?.map(unescaped) ?? [] });
      }
    }
  };
  read(rules);
  overs.set(sheet, { count: rules.length, list });
  return list;
}

// unescaped is the name of a class in a selector. One with an escaped code point is not unescaped.
const unescaped = (name) => name.slice(1).replace(/\\([^0-9a-f])/gi, '$1');

// classesOf are the names of the classes that elements below a root have.
function classesOf(root) {
  const values = new Set();
  for (const element of root.querySelectorAll('[class]')) values.add(element.getAttribute('class'));
  return new Set(Array.from(values).flatMap((value) => value.split(/\s+/)));
}

// opensOnHover finds what shows more on hover in a document or shadow root.
function opensOnHover(root) {
  const found = new Set();
  let list = [...root.styleSheets, ...root.adoptedStyleSheets].flatMap(oversOf);
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
