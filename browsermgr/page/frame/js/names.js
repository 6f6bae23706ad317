// Accessible names, after accname-1.2, HTML-AAM and SVG-AAM, without what forces layout or is quadratic (never element.labels).

const tooltip = (element) => squeeze(element.getAttribute('title') ?? '');
const NAME_LIMIT = 900;
const clip = (text, limit = NAME_LIMIT) => {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 2]) ? limit - 2 : limit - 1; // never half a character
  return text.slice(0, end) + '…';
};

// What is found once a snapshot: the labels of a tree scope, and whether style sheets may paint text into it.
let labelMaps = new Map();
let painted = new Map();
const resetNames = () => {
  labelMaps = new Map();
  painted = new Map();
  tablesWithRole = new Map();
};

function labelsOf(control) {
  const root = control.getRootNode();
  let map = labelMaps.get(root);
  if (!map) {
    map = new Map();
    for (const label of root.querySelectorAll('label')) {
      const target = label.control;
      if (!target) continue;
      if (map.has(target)) map.get(target).push(label);
      else map.set(target, [label]);
    }
    labelMaps.set(root, map);
  }
  return map.get(control) ?? [];
}

// referenced resolves a list of ids (aria-labelledby, aria-owns) in the element's own tree scope.
function referenced(element, ids) {
  const root = element.getRootNode();
  return ids.trim().split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean);
}

// Sheets are read once; one that cannot be read may have anything.
const sheetsPaint = new WeakMap();
const RULES = 20000;

function sheetPaints(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return true;
  }
  const before = sheetsPaint.get(sheet);
  if (before?.count === rules.length) return before.paints;
  const paints = rules.length > RULES || rulesPaint(rules);
  sheetsPaint.set(sheet, { count: rules.length, paints });
  return paints;
}

function rulesPaint(rules) {
  for (const rule of rules) {
    if (rule.styleSheet && sheetPaints(rule.styleSheet)) return true;
    if (rule.cssRules?.length && rulesPaint(rule.cssRules)) return true;
    const content = rule.style?.content;
    if (content && !/^(none|normal|""|'')$/.test(content)) return true;
  }
  return false;
}

// paintsText says that ::before and ::after may have text in the tree that an element is in.
function paintsText(element) {
  const root = element.getRootNode();
  let paints = painted.get(root);
  if (paints === undefined) {
    const sheets = [...(root.styleSheets ?? []), ...(root.adoptedStyleSheets ?? [])];
    paints = sheets.some(sheetPaints) || (root.host != null && paintsText(root.host)); // ::part reaches into a shadow tree
    painted.set(root, paints);
  }
  return paints;
}

const STRINGS = /"((?:[^"\\]|\\.)*)"/g;
const unescape = (text) => text.replace(/\\([0-9a-f]{1,6} ?|.)/gi, (_, c) => (/^[0-9a-f]/i.test(c) ? String.fromCodePoint(parseInt(c, 16)) : c));

// pseudoText is what ::before or ::after paints, or the text that stands for it ("★" / "star").
function pseudoText(element, pseudo) {
  const style = getComputedStyle(element, pseudo);
  const content = style.content;
  if (!content.includes('"') || style.display === 'none' || style.visibility !== 'visible') return '';
  const spoken = content.replace(/^(?:[^"/]|"(?:[^"\\]|\\.)*")*\/ /, '');
  const text = Array.from(spoken.matchAll(STRINGS), (m) => unescape(m[1])).join('').replace(/[\ue000-\uf8ff]/g, ''); // an icon's number
  return spoken !== content || apart(style.display) ? ` ${text} ` : text;
}

// apart says that what a box shows does not run into the text around it.
const apart = (display) => display !== 'inline';

const UNSPOKEN = new Set(('script style noscript template head meta link title base datalist desc defs metadata symbol clippath ' +
  'mask pattern marker lineargradient radialgradient filter').split(' '));

// How a name is computed: PLAIN_TEXT from content or a label, REFERENCED for aria-labelledby (which is not followed again),
// HIDDEN for a reference to something hidden, of which the hidden parts count, too.
const FROM_CONTENT = 0;
const REFERENCED = 1;
const HIDDEN = 2;

// contentText is the text an element's subtree contributes to a name. skip leaves out the control being named.
function contentText(element, skip, how = FROM_CONTENT) {
  const paints = paintsText(element);
  const plain = !element.firstElementChild && !anyShadow(element) && element.localName !== 'slot' && !element.hasAttribute('aria-owns');
  if (plain && !paints) return element.textContent;
  let text = paints ? pseudoText(element, '::before') : '';
  if (plain) text += element.textContent;
  else for (const node of toldChildren(element)) text += nodeText(node, element, skip, how);
  if (element.hasAttribute('aria-owns')) {
    for (const child of referenced(element, element.getAttribute('aria-owns'))) {
      if (!child.contains(element)) text += ` ${nodeText(child, element, skip, how)}`;
    }
  }
  return paints ? text + pseudoText(element, '::after') : text;
}

// toldChildren are those that are rendered: of closed details, the summary.
function toldChildren(element) {
  if (element.localName !== 'details' || element.open) return flatChildren(element);
  return Array.from(element.children).filter((child) => child.localName === 'summary').slice(0, 1);
}

// nodeText is what a node contributes in its place.
function nodeText(node, parent, skip, how) {
  if (node.nodeType === Node.TEXT_NODE) return how !== HIDDEN && getComputedStyle(parent).visibility !== 'visible' ? '' : node.data;
  if (node === skip) return ' ';
  if (node.nodeType !== Node.ELEMENT_NODE || UNSPOKEN.has(node.localName)) return '';
  const tag = node.localName;
  if (tag === 'br' || tag === 'wbr') return ' ';
  if (SUBMENU.test(node.getAttribute('role'))) return '';
  const style = getComputedStyle(node);
  if (how !== HIDDEN) {
    if (node.getAttribute('aria-hidden') === 'true' || node.hasAttribute('inert') || style.display === 'none') return '';
    if (style.visibility !== 'visible') return node.firstElementChild ? contentText(node, skip, how) : '';
  }
  if (apart(style.display) && style.contentVisibility === 'hidden') return '';
  const given = tag === 'slot' ? '' : givenName(node, how);
  if (given || REPLACED.has(tag)) return ` ${given || (node.hasAttribute('alt') ? '' : tooltip(node))} `;
  if (tag === 'svg' && !node.querySelector(TOLD_IN_DRAWINGS)) return ' ';
  const text = contentText(node, skip, how);
  return how === HIDDEN || (tag !== 'slot' && apart(style.display)) ? ` ${text} ` : text;
}

// What opens below an item is not part of its name.
const SUBMENU = /^(menu|group)$/;
const REPLACED = new Set('input select textarea img iframe object'.split(' '));
// What in a drawing may tell something. Most icons have nothing of it.
const TOLD_IN_DRAWINGS = 'title, text, use, foreignObject, [aria-label], [aria-labelledby]';

// partText is what an element that labels another contributes to its name: its value if it is a field, what names it, or its
// content, or its tooltip.
const partText = (element, skip, how) => givenName(element, how) ||
  (REPLACED.has(element.localName) ? '' : squeeze(contentText(element, skip, how))) ||
  element.getAttribute('title') || element.getAttribute('placeholder') || '';

// givenName is what markup calls an element that is part of another's name, or ''.
function givenName(element, how) {
  const value = embeddedValue(element);
  if (value !== null) return value;
  const drawn = element.namespaceURI === SVG;
  if (!element.hasAttributes() && !drawn && !NAMED_BY_PART.has(element.localName)) return '';
  if (how === FROM_CONTENT && element.hasAttribute('aria-labelledby')) {
    const text = labelledby(element, true);
    if (text) return text;
  }
  const label = squeeze(element.getAttribute('aria-label') ?? '');
  if (label) return label;
  switch (element.localName) {
    case 'img':
    case 'area':
      return squeeze(element.getAttribute('alt') ?? element.getAttribute('title') ?? '');
    case 'input':
      return inputName(element);
    case 'fieldset': case 'table':
      return hostName(element);
  }
  return drawn && !/^(none|presentation)$/.test(element.getAttribute('role')) ? drawnTitle(element) : '';
}
const NAMED_BY_PART = new Set(['fieldset', 'table']);

// embeddedValue is what a field within the label of another holds; null for what is no such field.
function embeddedValue(element) {
  const tag = element.localName;
  if (tag === 'input') {
    if (/^(checkbox|radio|button|submit|reset|image|hidden|file)$/.test(element.type)) return null;
    return isSecret(element) ? '' : element.value;
  }
  if (tag === 'textarea') return isSecret(element) ? '' : element.value;
  if (tag === 'select') return Array.from(element.selectedOptions, (o) => o.label).join(' ');
  const role = element.hasAttribute('role') ? roleOf(element, tag) : '';
  switch (role) {
    case 'slider': case 'spinbutton': case 'scrollbar': case 'meter': case 'progressbar':
      return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
    case 'textbox': case 'searchbox':
      return element.textContent;
    case 'combobox': case 'listbox':
      return Array.from(element.querySelectorAll('[aria-selected="true"]'), (e) => e.textContent).join(' ') || (role === 'combobox' ? element.textContent : '');
  }
  return tag === 'meter' || tag === 'progress' ? (element.hasAttribute('value') ? String(element.value) : '') : null;
}

const drawnTitle = (element) => {
  for (const child of element.children) if (child.localName === 'title') return squeeze(child.textContent);
  const used = element.localName === 'use' && element.getRootNode().getElementById?.(element.href.baseVal.slice(1));
  return used ? drawnTitle(used) : '';
};

const isHidden = (element) => !element.checkVisibility(SEEN) || element.closest('[aria-hidden="true"]') !== null;

// saysNothing says that an element names nothing, even where it is referred to: it is for no reader at all.
const saysNothing = (element) => (UNSPOKEN.has(element.localName) && element.namespaceURI === HTML) ||
  element.closest('[inert], [hidden=until-found]') !== null || getComputedStyle(element).contentVisibility === 'hidden';

// labels are what an element refers to as its name: by ids, or by what a script set, which leaves the attribute empty.
const labels = (element) => {
  const ids = element.getAttribute('aria-labelledby');
  return ids ? referenced(element, ids) : element.ariaLabelledByElements ?? [];
};

// labelledby is the text of what an element refers to. As a part of another's name (within), it does not say that again.
const labelledby = (element, within = false) => squeeze(labels(element)
  .filter((e) => !saysNothing(e) && !(within && e.contains(element)))
  .map((e) => (e === element && ownLabel(e)) || partText(e, null, isHidden(e) ? HIDDEN : REFERENCED)).join(' '));

// ownLabel is what a field that is named by itself and others contributes: not its value, which is for the names of others.
const ownLabel = (field) => embeddedValue(field) !== null && (squeeze(field.getAttribute('aria-label') ?? '') || hostName(field));

// authorName is the name that markup gives explicitly, or ''.
function authorName(element) {
  const text = element.hasAttribute('aria-labelledby') ? labelledby(element) : '';
  return text || squeeze(element.getAttribute('aria-label') ?? '');
}

// hostName is the name that the element's own kind gives it.
function hostName(element) {
  switch (element.localName) {
    case 'img':
    case 'area':
      return squeeze(element.getAttribute('alt') ?? '');
    case 'fieldset':
      return childText(element, 'legend');
    case 'table':
      return childText(element, 'caption') || squeeze(element.getAttribute('summary') ?? '');
    case 'optgroup':
    case 'option':
      return squeeze(element.label);
    case 'input':
      return inputName(element);
    case 'button': case 'select': case 'textarea': case 'meter': case 'progress': case 'output':
      return labelText(element);
  }
  if (element.namespaceURI === SVG) return drawnTitle(element) || squeeze(element.getAttribute('xlink:title') ?? '');
  return internals.get(element)?.name ?? '';
}

const SVG = 'http://www.w3.org/2000/svg';
const HTML = 'http://www.w3.org/1999/xhtml';

function inputName(element) {
  const label = labelText(element);
  if (label) return label;
  switch (element.type) {
    case 'submit':
      return squeeze(element.value) || unlabelled(element) || 'Submit';
    case 'reset':
      return squeeze(element.value) || unlabelled(element) || 'Reset';
    case 'button':
      return squeeze(element.value);
    case 'image':
      return squeeze(element.getAttribute('alt') || element.value || element.getAttribute('title') || 'Submit');
  }
  return '';
}

// unlabelled is the tooltip of a button whose label was emptied: one without a label has that of its kind.
const unlabelled = (button) => (button.hasAttribute('value') ? tooltip(button) : '');

const labelText = (control) => squeeze(labelsOf(control).filter((label) => !isHidden(label)).map((label) => partText(label, control, FROM_CONTENT)).join(' '));

function childText(element, tag) {
  for (const child of element.children) if (child.localName === tag) return isHidden(child) ? '' : squeeze(partText(child, null, FROM_CONTENT));
  return '';
}

// nameOf is the element's accessible name. Roles that take it from their content do so when nothing else names them.
function nameOf(element, role) {
  let name = '';
  if (element.hasAttributes()) name = authorName(element);
  name ||= hostName(element);
  if (!name && NAMED_BY_CONTENT.has(role)) name = squeeze(contentText(element));
  name ||= hint(element);
  return clip(name);
}

// hint is what is told of an element that has no name.
const hint = (element) => (element.getAttribute('alt')?.trim() === '' ? '' : tooltip(element)) || squeeze(element.getAttribute('placeholder') ?? '') ||
  squeeze(element.getAttribute('aria-placeholder') ?? '');

// personal are the fields into which a person typed while the page was theirs: what they hold is not told any more.
// They are those whose contents are others at the end of that time than at its beginning, or than in the document.
const personal = new WeakSet();
let held = new WeakMap();
const UNTYPED = /^(checkbox|radio|button|submit|reset|image|hidden|file|range|color)$/;
function eachField(root, visit) {
  for (const element of root.querySelectorAll('*')) {
    const { localName: tag, type } = element;
    if (tag === 'textarea' || (tag === 'input' && !UNTYPED.test(type))) visit(element);
    const inner = anyShadow(element) ?? embedded(element);
    if (inner) eachField(inner, visit);
  }
}
FUNCTIONS.beginHold = () => {
  held = new WeakMap();
  eachField(document, (field) => held.set(field, field.value));
  return true;
};
FUNCTIONS.endHold = () => {
  eachField(document, (field) => {
    if (field.value !== (held.get(field) ?? field.defaultValue)) personal.add(field);
  });
  return true;
};

// isSecret says that a field's value must not leave the page: a password, a one-time code, or whatever is drawn as dots. A
// field that was one stays one, also while the page shows what was typed. Libraries write new-password on fields of searches
// and lists to keep the browser from completing them.
const secrets = new WeakSet();
function isSecret(element) {
  if (element.localName !== 'input' && element.localName !== 'textarea') return false;
  if (secrets.has(element) || personal.has(element)) return true;
  const searches = element.matches('[type=search], [role=combobox], [role=searchbox]');
  const secret = element.type === 'password' ||
    (searches ? /\bone-time-code\b/i : /\b(current-password|new-password|one-time-code)\b/i).test(element.getAttribute('autocomplete') ?? '') ||
    /^(disc|circle|square)$/.test(getComputedStyle(element).webkitTextSecurity);
  if (secret) secrets.add(element);
  return secret;
}
