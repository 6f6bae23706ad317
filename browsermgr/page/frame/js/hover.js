// What shows only while the mouse is over something, by style sheets.

// opening are the elements of the document walked over that show more while the mouse is over them.
let opening = new Set();

// overs tells of style sheets which selectors do that, with what they show.
const overs = new WeakMap();
const SHOWING = ['display', 'visibility', 'opacity'];

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
  const read = (rules) => {
    for (const rule of rules) {
      if (rule.cssRules?.length) read(rule.cssRules);
      if (!rule.selectorText?.includes(':hover') || !SHOWING.some((name) => rule.style.getPropertyValue(name))) continue;
      for (const selector of rule.selectorText.split(',')) {
        const [, before, shows] = /^([^()]*):hover\s*((?:>| )[^()+~]+)$/.exec(selector.trim()) ?? [];
        const over = /(^|[ >+~])$/.test(before ?? '') ? `${before} *` : before;
        if (shows && CSS.supports(`selector(${over})`) && CSS.supports(`selector(:scope ${shows})`)) list.push([over, `:scope ${shows}`]);
      }
    }
  };
  read(rules);
  overs.set(sheet, { count: rules.length, list });
  return list;
}

function opensOnHover(doc) {
  const found = new Set();
  for (const sheet of [...doc.styleSheets, ...doc.adoptedStyleSheets]) {
    for (const [over, shows] of oversOf(sheet)) {
      for (const element of Array.from(doc.querySelectorAll(over)).slice(0, SUSPECTS)) {
        const part = element.querySelector(shows);
        if (part && !part.checkVisibility({ ...SEEN, opacityProperty: true }) && element.checkVisibility(SEEN)) found.add(element);
      }
    }
  }
  return found;
}
