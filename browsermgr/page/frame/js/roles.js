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
// Roles that are kinds of these (DPUB-ARIA, Graphics-ARIA), and other words for them.
const SYNONYMS = { image: 'img', directory: 'list' };
for (const [role, kinds] of Object.entries({
  document: 'graphics-document', figure: 'doc-example', group: 'graphics-object', heading: 'doc-subtitle', img: 'doc-cover graphics-symbol',
  link: 'doc-backlink doc-biblioref doc-glossref doc-noteref', listitem: 'doc-biblioentry doc-endnote',
  navigation: 'doc-index doc-pagelist doc-toc', note: 'doc-notice doc-tip', separator: 'doc-pagebreak',
  region: 'doc-acknowledgments doc-afterword doc-appendix doc-bibliography doc-chapter doc-conclusion doc-endnotes doc-epilogue ' +
    'doc-errata doc-foreword doc-glossary doc-introduction doc-part doc-preface doc-prologue',
})) for (const kind of kinds.split(' ')) SYNONYMS[kind] = role;

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
  mark: 'mark', s: 'deletion', strong: 'strong', sub: 'subscript', sup: 'superscript', time: 'time',
};
// Those that a script made something to act on have their own role, too.
const WHEN_PROMOTED = { ...WHEN_MARKED, form: 'form', g: 'group' };
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
      if ((role === 'region' || role === 'form') && !isNamed(element)) break;
      if (KNOWN.has(role)) return role;
    }
  }
  const plain = PLAIN[tag];
  if (tag === 'aside' && element.parentElement?.closest('article, aside, nav, section') && !isNamed(element)) return 'generic';
  if (plain !== undefined) return TABULAR.has(tag) || tag === 'li' ? inContainer(element, tag, plain) : plain;
  switch (tag) {
    case 'a':
      return element.hasAttribute('href') || element.hasAttribute('xlink:href') || leads(element) ? 'link' : 'generic';
    case 'area':
      return element.hasAttribute('href') ? 'link' : 'generic';
    case 'input':
      return inputRole(element);
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return element.getAttribute('alt') === '' && !focusable(element) && !element.matches(NAMED) ? 'generic' : 'img';
    case 'svg':
      return element.matches(MARKS) || drawnTitle(element) ? (element.ownerSVGElement ? 'group' : 'img') : 'generic';
    case 'object': case 'embed':
      return isFrame(element) ? 'Iframe' : 'generic';
    case 'th':
      return inContainer(element, tag, headerRole(element));
    case 'header':
      return element.closest(SECTIONS) ? 'generic' : 'banner';
    case 'footer':
      return element.closest(SECTIONS) ? 'generic' : 'contentinfo';
    case 'section':
      return isNamed(element) ? 'region' : 'generic';
    case 'form':
      return isNamed(element) ? 'form' : 'generic';
    case 'summary':
      return element.parentElement?.localName === 'details' ? 'button' : 'generic';
  }
  const marked = WHEN_MARKED[tag];
  if (marked) return element.matches(MARKS) ? marked : 'generic';
  if (tag.includes('-')) return internals.get(element)?.role ?? 'generic';
  return element.namespaceURI === SVG ? drawnRole(element, 'generic') : 'generic';
}

// leads says that an anchor without an address is a link all the same, since scripts hear clicks on it.
const leads = (anchor) => heard.has(anchor) || anchor.matches('[onclick], [onmousedown], [onmouseup]');

const SECTIONS = 'article, aside, main, nav, section, [role="article"], [role="complementary"], [role="main"], [role="navigation"]';
const isNamed = (element) => element.matches(NAMED) && (authorName(element) || tooltip(element)) !== '';

const LISTS = 'ul, ol, menu, [role="list"], [role="directory"]';
const NAMED = '[aria-label], [aria-labelledby], [title]:not([title=""])';

// isPresentational says that a role of none holds: focus and names outrank it.
const isPresentational = (element) => !focusable(element) && !element.hasAttribute('aria-label') && !element.hasAttribute('aria-labelledby');

// Cells and items are what they are by what holds them. Most tables have no role: one question to the tree tells.
const TABULAR = new Set(['td', 'tr', 'tbody', 'thead', 'tfoot']);
let tablesWithRole = new Map();

function inContainer(element, tag, role) {
  if (tag === 'li') {
    const parent = element.parentElement;
    return parent?.hasAttribute('role') && roleOf(parent, parent.localName) !== 'list' ? 'generic' : role;
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
    case 'table': case null: case undefined:
      return role;
  }
  return roleOf(table, 'table') === 'table' ? role : 'generic';
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
    case 'use':
      return element.matches(MARKS) ? 'group' : otherwise;
    case 'rect': case 'circle': case 'ellipse': case 'line': case 'path': case 'polygon': case 'polyline':
      return element.matches(MARKS) || drawnTitle(element) ? 'img' : otherwise;
  }
  return otherwise;
}

function inputRole(element) {
  const type = element.type;
  const role = INPUT[type];
  if (role) return role;
  if (element.list && /^(text|search|email|tel|url)$/.test(type)) return 'combobox';
  return type === 'search' ? 'searchbox' : 'textbox';
}

const FOCUSABLE = 'a[href], area[href], button:enabled, input:enabled, select:enabled, textarea:enabled, [tabindex]';
const focusable = (element) => element.matches(FOCUSABLE);

// isDisabled says that an element cannot be used. What is said of a group holds for what in it can have the focus.
function isDisabled(element) {
  if (internals.get(element)?.disabled === 'true') return true;
  if (element.disabled !== undefined && element.matches(':disabled')) return true;
  const by = element.closest('[aria-disabled="true" i]');
  return by !== null && (by === element || (focusable(element) && element.closest('[aria-disabled]') === by));
}

// Roles that have a state. One that says nothing (generic, listitem) is told with what markup says beside it.
const CHECKED = new Set('checkbox generic menuitemcheckbox menuitemradio option radio switch treeitem'.split(' '));
const MIXED = new Set('checkbox menuitemcheckbox option treeitem'.split(' '));
const SELECTED = new Set('columnheader generic gridcell listitem option row rowheader tab treeitem'.split(' '));
const EXPANDED = new Set(('application button checkbox columnheader combobox generic gridcell link listitem menuitem menuitemcheckbox ' +
  'menuitemradio row rowheader switch tab treeitem').split(' '));

const CURRENT = new Set('page step location date time'.split(' '));
const SORTED = new Set(['columnheader', 'rowheader']);

// isTrue reads an attribute as ARIA does: what is no known value is as good as true.
const isTrue = (value) => value !== null && !/^(|false|undefined)$/i.test(value);

// levelOf is a heading's level: 1 to 9 where it is given.
function levelOf(element, tag) {
  const given = element.getAttribute('aria-level');
  if (!given) return /^h[1-6]$/.test(tag) ? tag[1] : 2;
  const level = parseInt(given, 10) || 1;
  return level > 9 ? 2 : Math.max(level, 1);
}

// isInvalid says that a field holds what it does not take. One that is merely empty is invalid once somebody has left it so.
function isInvalid(element, tag) {
  const given = element.getAttribute('aria-invalid');
  if (given !== null) return isTrue(given);
  return FIELDS.has(tag) && element.matches(':invalid') && (!element.validity.valueMissing || element.matches(':user-invalid'));
}
const FIELDS = new Set(['input', 'select', 'textarea']);

// states lists the bracketed attributes of a line.
function states(element, tag, role, active) {
  let text = '';
  const own = tag.includes('-') ? internals.get(element) : undefined;
  const aria = (name) => element.getAttribute(`aria-${name}`) ?? own?.[name] ?? null;
  if (CHECKED.has(role)) {
    const native = tag === 'input' && /^(checkbox|radio)$/.test(element.type);
    const checked = !native ? aria('checked') : element.indeterminate ? 'mixed' : String(element.checked);
    if (checked !== 'mixed') text += isTrue(checked) ? ' [checked]' : '';
    else if (MIXED.has(role)) text += ' [checked=mixed]';
  }
  if (isDisabled(element)) text += ' [disabled]';
  const open = tag === 'summary' && role === 'button' ? String(element.parentElement?.open === true) : aria('expanded');
  if (open && EXPANDED.has(role) && tag !== 'select') {
    if (open === 'false') text += ' [expanded=false]';
    else if (isTrue(open)) text += ' [expanded]';
  }
  if (role === 'heading') text += ` [level=${levelOf(element, tag)}]`;
  const pressed = role === 'button' || role === 'generic' ? aria('pressed') : null;
  if (isTrue(pressed)) text += pressed === 'mixed' ? ' [pressed=mixed]' : ' [pressed]';
  if (tag === 'option' ? element.selected : SELECTED.has(role) && isTrue(aria('selected'))) text += ' [selected]';
  const current = aria('current');
  if (isTrue(current)) text += CURRENT.has(current) ? ` [current=${current}]` : ' [current]';
  if (SORTED.has(role) && /^(ascending|descending|other)$/.test(aria('sort'))) text += ` [sort=${aria('sort')}]`;
  if (element.required || aria('required') === 'true') text += ' [required]';
  if (element.readOnly === true || aria('readonly') === 'true') text += ' [readonly]';
  if (isInvalid(element, tag)) text += ' [invalid]';
  if (isSecret(element)) text += personal.has(element) ? ' [typed by a person]' : ' [password]';
  if (tag === 'input') text += kindOfField(element);
  if (element === active) text += ' [active]';
  return text;
}

// kindOfField says what a field takes that its role does not tell.
function kindOfField(element) {
  if (/^(date|time|datetime-local|month|week|color)$/.test(element.type)) return ` [type=${element.type}]`;
  if (element.type !== 'file') return '';
  const accept = squeeze(element.accept).replace(/[[\]]/g, '');
  return ` [file]${accept ? ` [accept=${clip(accept, 200)}]` : ''}${element.webkitdirectory ? ' [folder]' : element.multiple ? ' [multiple]' : ''}`;
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
  if (/^(slider|spinbutton|progressbar|scrollbar|meter|separator)$/.test(role)) {
    return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? internals.get(element)?.value ?? '';
  }
  if (/^(textbox|searchbox)$/.test(role) && element.isContentEditable) return contentText(element);
  return '';
}
