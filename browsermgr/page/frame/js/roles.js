// Roles: explicit ones, and those that HTML elements have by themselves (HTML-AAM).

const INTERACTIVE = new Set(('button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio ' +
  'searchbox slider spinbutton switch tab textbox treeitem').split(' '));
const CONTENT = new Set('article cell columnheader gridcell heading listitem main navigation region rowheader'.split(' '));
const STRUCTURAL = new Set(('application associationlist document generic grid group ignored list menu menubar none presentation ' +
  'radiogroup row rowgroup table tablist toolbar tree treegrid').split(' '));
const NAMED_BY_CONTENT = new Set(('button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab ' +
  'tooltip treeitem').split(' '));
// Their whole text becomes the name when there is nothing else in them.
const NAMED_WHEN_LEAF = new Set('cell gridcell columnheader rowheader'.split(' '));
const KNOWN = new Set([...INTERACTIVE, ...CONTENT, ...STRUCTURAL, ...('alert alertdialog banner blockquote caption code ' +
  'comment complementary contentinfo definition deletion dialog emphasis feed figure form img insertion log mark marquee math ' +
  'meter note paragraph progressbar scrollbar search separator status strong subscript suggestion superscript tabpanel term ' +
  'time timer tooltip').split(' ')]);
const SYNONYMS = { image: 'img', directory: 'list' };

const PLAIN = {
  article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', datalist: 'listbox',
  dd: 'definition', details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term', fieldset: 'group', figure: 'figure',
  frame: 'Iframe', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading',
  hr: 'separator', iframe: 'Iframe', li: 'listitem', main: 'main', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', search: 'search', table: 'table', tbody: 'rowgroup', td: 'cell',
  textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', tr: 'row', ul: 'list',
};

// Parts of a text, and groups, that have a line of their own only where markup names them or lets them have the focus.
const WHEN_MARKED = {
  address: 'group', code: 'code', del: 'deletion', dl: 'associationlist', em: 'emphasis', hgroup: 'group', ins: 'insertion',
  mark: 'mark', strong: 'strong', sub: 'subscript', sup: 'superscript', time: 'time',
};
const MARKS = '[tabindex], [aria-label], [aria-labelledby]';

const INPUT = {
  button: 'button', checkbox: 'checkbox', image: 'button', number: 'spinbutton', radio: 'radio', range: 'slider',
  reset: 'button', submit: 'button', file: 'button', color: 'button',
};

function roleOf(element, tag) {
  const explicit = element.getAttribute('role');
  if (explicit) {
    for (const token of explicit.toLowerCase().split(/\s+/)) {
      const role = SYNONYMS[token] ?? token;
      if (role === 'none' || role === 'presentation') {
        if (isPresentational(element)) return 'generic';
        break;
      }
      if (role === 'listitem' && !element.parentElement?.closest(LISTS)) return 'generic';
      if (KNOWN.has(role)) return role;
    }
  }
  const plain = PLAIN[tag];
  if (plain !== undefined) return TABULAR.has(tag) || tag === 'li' ? inContainer(element, tag, plain) : plain;
  switch (tag) {
    case 'a':
      return element.hasAttribute('href') || element.hasAttribute('xlink:href') ? 'link' : drawnRole(element, 'generic');
    case 'area':
      return element.hasAttribute('href') ? 'link' : 'generic';
    case 'input':
      return inputRole(element);
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return element.getAttribute('alt') === '' && !focusable(element) && !element.matches(NAMED) ? 'generic' : 'img';
    case 'svg':
      return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') || drawnTitle(element) ? 'img' : 'generic';
    case 'th':
      return inContainer(element, tag, headerRole(element));
    case 'header':
      return element.closest('article, aside, main, nav, section') ? 'generic' : 'banner';
    case 'footer':
      return element.closest('article, aside, main, nav, section') ? 'generic' : 'contentinfo';
    case 'section':
      return authorName(element) ? 'region' : 'generic';
    case 'form':
      return authorName(element) ? 'form' : 'generic';
    case 'summary':
      return element.parentElement?.localName === 'details' ? 'button' : 'generic';
  }
  const marked = WHEN_MARKED[tag];
  if (marked) return element.matches(MARKS) ? marked : 'generic';
  return element.namespaceURI === SVG ? drawnRole(element, 'generic') : 'generic';
}

const LISTS = 'ul, ol, menu, [role="list"], [role="directory"]';
const NAMED = '[aria-label], [aria-labelledby], [title]:not([title=""])';

// isPresentational says that a role of none holds: focus and names outrank it.
const isPresentational = (element) => !focusable(element) && !element.hasAttribute('aria-label') && !element.hasAttribute('aria-labelledby');

// Cells and items are what they are by what holds them. Most tables have no role: one question to the tree tells.
const TABULAR = new Set(['td', 'tr', 'tbody', 'thead', 'tfoot']);
let tablesWithRole = new Map();

function inContainer(element, tag, role) {
  if (tag === 'li') {
    const list = element.parentElement?.getAttribute('role');
    return (list === 'none' || list === 'presentation') && isPresentational(element.parentElement) ? 'generic' : role;
  }
  const root = element.getRootNode();
  let some = tablesWithRole.get(root);
  if (some === undefined) tablesWithRole.set(root, some = root.querySelector?.('table[role]') !== null);
  if (!some) return role;
  const table = element.closest('table');
  switch (table?.getAttribute('role')) {
    case 'none': case 'presentation':
      return isPresentational(table) ? 'generic' : role;
    case 'grid': case 'treegrid':
      return tag === 'td' ? 'gridcell' : role;
  }
  return role;
}

// headerRole says whether a header cell without a scope is the row's or the column's: a row that has data has its own.
function headerRole(element) {
  if (element.scope) return element.scope.startsWith('row') ? 'rowheader' : 'columnheader';
  const row = element.parentElement;
  return row?.parentElement?.localName !== 'thead' && row?.querySelector(':scope > td') ? 'rowheader' : 'columnheader';
}

// drawnRole is the role of a part of a drawing: what is named or can have the focus is there to be seen.
function drawnRole(element, otherwise) {
  switch (element.localName) {
    case 'image':
      return 'img';
    case 'g':
      return element.matches('[aria-label], [aria-labelledby]') ? 'group' : otherwise;
    case 'rect': case 'circle': case 'ellipse': case 'line': case 'path': case 'polygon': case 'polyline': case 'use':
      return element.matches(MARKS) || drawnTitle(element) ? 'img' : otherwise;
  }
  return otherwise;
}

function inputRole(element) {
  const type = element.type;
  const role = INPUT[type];
  if (role) return role;
  if (element.hasAttribute('list') && /^(text|search|email|tel|url)$/.test(type)) return 'combobox';
  return type === 'search' ? 'searchbox' : 'textbox';
}

const focusable = (element) => element.hasAttribute('tabindex') || element.matches('a[href], button, input, select, textarea');

const isDisabled = (element) => element.matches(':disabled') || element.closest('[aria-disabled="true"]') !== null;

// states lists the bracketed attributes of a line.
function states(element, tag, role, active) {
  let text = '';
  const aria = (name) => element.getAttribute(`aria-${name}`);
  const threeState = (label, value) => {
    if (value === 'true') text += ` [${label}]`;
    else if (value === 'mixed') text += ` [${label}=mixed]`;
  };
  if (tag === 'input' && (element.type === 'checkbox' || element.type === 'radio')) {
    if (element.indeterminate) text += ' [checked=mixed]';
    else if (element.checked) text += ' [checked]';
  } else if (element.hasAttribute('aria-checked')) {
    threeState('checked', aria('checked'));
  }
  if (INTERACTIVE.has(role) || tag === 'fieldset') {
    if (isDisabled(element)) text += ' [disabled]';
  }
  const open = tag === 'summary' && role === 'button' ? String(element.parentElement?.open === true) : aria('expanded');
  if (open === 'true') text += ' [expanded]';
  else if (open === 'false') text += ' [expanded=false]';
  if (role === 'heading') {
    text += ` [level=${parseInt(aria('level') ?? (/^h[1-6]$/.test(tag) ? tag[1] : ''), 10) || 2}]`;
  }
  threeState('pressed', aria('pressed'));
  if (tag === 'option' ? element.selected : aria('selected') === 'true') text += ' [selected]';
  if (element.required || aria('required') === 'true') text += ' [required]';
  if (element.readOnly === true || aria('readonly') === 'true') text += ' [readonly]';
  if (/^(true|grammar|spelling)$/.test(aria('invalid')) || (aria('invalid') === null && element.matches(':user-invalid'))) text += ' [invalid]';
  if (isSecret(element)) text += ' [password]';
  if (tag === 'input') text += kindOfField(element);
  if (element === active) text += ' [active]';
  return text;
}

// kindOfField says what a field takes that its role does not tell.
function kindOfField(element) {
  if (/^(date|time|datetime-local|month|week|color)$/.test(element.type)) return ` [type=${element.type}]`;
  if (element.type !== 'file') return '';
  const accept = squeeze(element.accept).replace(/[[\]]/g, '');
  return ` [file]${accept ? ` [accept=${clip(accept, 200)}]` : ''}${element.multiple ? ' [multiple]' : ''}`;
}

const MASK = '••••••••';

// valueOf is what a control holds, as a person would read it; '' if nothing or not a control.
function valueOf(element, tag, role) {
  switch (tag) {
    case 'input':
      if (/^(button|submit|reset|image|checkbox|radio|hidden)$/.test(element.type)) return '';
      if (element.type === 'file') return Array.from(element.files ?? [], (f) => f.name).join(', ');
      return isSecret(element) ? (element.value ? MASK : '') : element.value;
    case 'textarea':
      return isSecret(element) ? (element.value ? MASK : '') : element.value;
    case 'select':
      return Array.from(element.selectedOptions, (o) => squeeze(o.label)).join(', ');
    case 'meter':
    case 'progress':
      return element.hasAttribute('value') ? String(element.value) : '';
  }
  if (/^(slider|spinbutton|progressbar|scrollbar|meter)$/.test(role)) {
    return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
  }
  if (/^(textbox|searchbox)$/.test(role) && element.isContentEditable) return contentText(element);
  return '';
}
