// Roles: explicit ones, and those that HTML elements have by themselves (HTML-AAM).

const INTERACTIVE = new Set(('button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio ' +
  'searchbox slider spinbutton switch tab textbox treeitem').split(' '));
const CONTENT = new Set('article cell columnheader gridcell heading listitem main navigation region rowheader'.split(' '));
const STRUCTURAL = new Set(('application directory document generic grid group ignored list menu menubar none presentation ' +
  'row rowgroup table tablist toolbar tree treegrid').split(' '));
const NAMED_BY_CONTENT = new Set(('button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch tab ' +
  'tooltip treeitem').split(' '));
// Their whole text becomes the name when there is nothing else in them.
const NAMED_WHEN_LEAF = new Set('cell gridcell columnheader rowheader'.split(' '));
const KNOWN = new Set([...INTERACTIVE, ...CONTENT, ...STRUCTURAL, ...('alert alertdialog banner blockquote caption code ' +
  'complementary contentinfo definition dialog feed figure form img image log marquee math meter note paragraph progressbar ' +
  'scrollbar search separator status strong subscript superscript tabpanel term time timer tooltip').split(' ')]);

const PLAIN = {
  article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', datalist: 'listbox',
  dd: 'definition', details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term', fieldset: 'group', figure: 'figure',
  frame: 'Iframe', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading',
  hr: 'separator', iframe: 'Iframe', li: 'listitem', main: 'main', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', search: 'search', summary: 'button', table: 'table', tbody: 'rowgroup', td: 'cell',
  textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', tr: 'row', ul: 'list',
};

const INPUT = {
  button: 'button', checkbox: 'checkbox', image: 'button', number: 'spinbutton', radio: 'radio', range: 'slider',
  reset: 'button', submit: 'button', file: 'button', color: 'button',
};

function roleOf(element, tag) {
  if (element.hasAttribute('role')) {
    for (const token of element.getAttribute('role').toLowerCase().split(/\s+/)) {
      if (token === 'none' || token === 'presentation') {
        if (!focusable(element)) return 'generic';
        break;
      }
      if (KNOWN.has(token)) return token === 'image' ? 'img' : token;
    }
  }
  const plain = PLAIN[tag];
  if (plain !== undefined) return plain;
  switch (tag) {
    case 'a':
    case 'area':
      return element.hasAttribute('href') ? 'link' : 'generic';
    case 'input':
      return inputRole(element);
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return element.getAttribute('alt') === '' && !focusable(element) ? 'generic' : 'img';
    case 'svg':
      return element.hasAttribute('aria-label') || element.querySelector(':scope > title') ? 'img' : 'generic';
    case 'th':
      return element.scope === 'row' || element.scope === 'rowgroup' ? 'rowheader' : 'columnheader';
    case 'header':
      return element.closest('article, aside, main, nav, section') ? 'generic' : 'banner';
    case 'footer':
      return element.closest('article, aside, main, nav, section') ? 'generic' : 'contentinfo';
    case 'section':
      return authorName(element) ? 'region' : 'generic';
    case 'form':
      return authorName(element) ? 'form' : 'generic';
  }
  return 'generic';
}

function inputRole(element) {
  const type = element.type;
  const role = INPUT[type];
  if (role) return role;
  if (element.hasAttribute('list') && /^(text|search|email|tel|url)$/.test(type)) return 'combobox';
  return type === 'search' ? 'searchbox' : 'textbox';
}

const focusable = (element) => element.hasAttribute('tabindex') || element.matches('a[href], button, input, select, textarea');

const isDisabled = (element) => element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true' ||
  element.parentElement?.closest('[aria-disabled="true"]') != null;

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
    if (element.matches(':disabled') || aria('disabled') === 'true') text += ' [disabled]';
  }
  const open = tag === 'summary' ? String(element.parentElement?.open === true) : aria('expanded');
  if (open === 'true') text += ' [expanded]';
  else if (open === 'false') text += ' [expanded=false]';
  if (role === 'heading') {
    const level = aria('level') ?? (/^h[1-6]$/.test(tag) ? tag[1] : '');
    if (level) text += ` [level=${parseInt(level, 10) || 2}]`;
  }
  threeState('pressed', aria('pressed'));
  if (tag === 'option' ? element.selected : aria('selected') === 'true') text += ' [selected]';
  if (element.required || aria('required') === 'true') text += ' [required]';
  if (element.readOnly === true || aria('readonly') === 'true') text += ' [readonly]';
  if (aria('invalid') === 'true') text += ' [invalid]';
  if (isSecret(element)) text += ' [password]';
  if (element === active) text += ' [active]';
  return text;
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
  return '';
}
