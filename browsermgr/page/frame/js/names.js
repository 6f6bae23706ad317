// Accessible names, after accname-1.2 and HTML-AAM, without what forces layout or is quadratic (never element.labels).

const NAME_LIMIT = 900;
const clip = (text, limit = NAME_LIMIT) => {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 2]) ? limit - 2 : limit - 1; // never half a character
  return text.slice(0, end) + '…';
};

// Labels of a tree scope, found once a snapshot.
let labelMaps = new Map();
const resetNames = () => { labelMaps = new Map(); };

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

const LABELABLE = new Set(['input', 'select', 'textarea', 'meter', 'progress', 'output', 'button']);

// contentText is the text an element's subtree contributes to a name. skip leaves out the control being named.
function contentText(element, skip) {
  if (!element.firstElementChild && !anyShadow(element) && element.localName !== 'slot') return element.textContent;
  let text = '';
  for (const node of flatChildren(element)) {
    if (node.nodeType === Node.TEXT_NODE) {
      text += node.data;
    } else if (node.nodeType === Node.ELEMENT_NODE && node !== skip) {
      if (UNSPOKEN.has(node.localName) || node.getAttribute('aria-hidden') === 'true') continue;
      const style = getComputedStyle(node);
      if (style.display === 'none' || style.visibility !== 'visible') continue;
      const part = partText(node, skip);
      text += style.display.startsWith('inline') ? part : ` ${part} `;
    }
  }
  return text;
}

const UNSPOKEN = new Set(['script', 'style', 'noscript', 'template', 'head', 'meta', 'link', 'title', 'base', 'datalist']);

function partText(element, skip) {
  const label = element.getAttribute('aria-label');
  if (label?.trim()) return label;
  switch (element.localName) {
    case 'img':
    case 'area':
      return element.getAttribute('alt') ?? '';
    case 'svg':
      return element.querySelector('title')?.textContent ?? '';
    case 'br':
      return ' ';
    case 'input':
      return isSecret(element) || element.type === 'checkbox' || element.type === 'radio' ? '' : element.value;
    case 'select':
      return element.selectedOptions[0]?.label ?? '';
    case 'textarea':
      return isSecret(element) ? '' : element.value;
  }
  return contentText(element, skip);
}

// pseudoText is what ::before and ::after paint: the only name some icon buttons have.
function pseudoText(element) {
  let text = '';
  for (const pseudo of ['::before', '::after']) {
    const match = /^"(.*)"/.exec(getComputedStyle(element, pseudo).content);
    if (match && /[\p{L}\p{N}]/u.test(match[1])) text += ` ${match[1]}`;
  }
  return text;
}

// authorName is the name that markup gives explicitly, or ''.
function authorName(element) {
  const ids = element.getAttribute('aria-labelledby');
  if (ids) {
    const text = squeeze(referenced(element, ids).map((e) => partText(e)).join(' '));
    if (text) return text;
  }
  return squeeze(element.getAttribute('aria-label') ?? '');
}

// hostName is the name that the element's own kind gives it.
function hostName(element) {
  switch (element.localName) {
    case 'img':
    case 'area':
      return squeeze(element.getAttribute('alt') ?? '');
    case 'svg':
      return squeeze(element.querySelector(':scope > title')?.textContent ?? '');
    case 'fieldset':
      return childText(element, 'legend');
    case 'table':
      return childText(element, 'caption');
    case 'figure':
      return childText(element, 'figcaption');
    case 'optgroup':
    case 'option':
      return squeeze(element.label);
    case 'iframe':
    case 'frame':
      return squeeze(element.getAttribute('title') || element.getAttribute('name') || '');
    case 'input':
      return inputName(element);
  }
  return LABELABLE.has(element.localName) ? labelText(element) : '';
}

function inputName(element) {
  const label = labelText(element);
  if (label) return label;
  switch (element.type) {
    case 'submit':
      return squeeze(element.value) || 'Submit';
    case 'reset':
      return squeeze(element.value) || 'Reset';
    case 'button':
      return squeeze(element.value);
    case 'image':
      return squeeze(element.getAttribute('alt') || element.value || '');
  }
  return '';
}

const labelText = (control) => squeeze(labelsOf(control).map((label) => contentText(label, control)).join(' '));

function childText(element, tag) {
  for (const child of element.children) if (child.localName === tag) return squeeze(contentText(child));
  return '';
}

// nameOf is the element's accessible name. Roles that take it from their content do so when nothing else names them.
function nameOf(element, role) {
  let name = '';
  if (element.hasAttributes()) name = authorName(element);
  name ||= hostName(element);
  if (!name && NAMED_BY_CONTENT.has(role)) name = squeeze(contentText(element));
  name ||= squeeze(element.getAttribute('title') ?? '') || squeeze(element.getAttribute('placeholder') ?? '');
  if (!name && (role === 'button' || role === 'link')) name = squeeze(pseudoText(element));
  return clip(name);
}

// isSecret says that a field's value must not leave the page: a password, a one-time code, or whatever is drawn as dots. A
// field that was one stays one, also while the page shows what was typed.
const secrets = new WeakSet();
function isSecret(element) {
  if (element.localName !== 'input' && element.localName !== 'textarea') return false;
  if (secrets.has(element)) return true;
  const secret = element.type === 'password' ||
    /\b(current-password|new-password|one-time-code)\b/i.test(element.getAttribute('autocomplete') ?? '') ||
    /^(disc|circle|square)$/.test(getComputedStyle(element).webkitTextSecurity);
  if (secret) secrets.add(element);
  return secret;
}
