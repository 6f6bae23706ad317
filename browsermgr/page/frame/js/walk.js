// The walk of a snapshot over the flat tree of this process's documents: one line a node.

const INDENT = Array.from({ length: 64 }, (_, i) => '  '.repeat(i));
const QUOTED = /["\\\u0000-\u001f\u2028\u2029]/;
const quote = (text) => (QUOTED.test(text) ? JSON.stringify(text) : `"${text}"`);

// unmistakable quotes a text that could be taken for our own marks: what begins like a line, or has a ref.
const MISTAKABLE = /^[-"/[]|[-:] \w+ "|\[(ref=|new\]|in )/;
const unmistakable = (text) => (MISTAKABLE.test(text) ? JSON.stringify(text) : text);
const OPTION_LIMIT = 60;
const SEEN = { visibilityProperty: true };

// Only these, and custom elements, can have a shadow root; asking every element for one is slow.
const HOSTS = new Set(('article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span').split(' '));
const shadowOf = (element, tag) => (HOSTS.has(tag) || tag.includes('-') ? anyShadow(element) : null);

// What a line has, in Walk.kinds.
const HAS_REF = 1;
const HAS_VALUE = 2;
const ACTS = 4; // it can be acted on
const SUSPECTS = 256;

// suspicious says that an element may have a closed shadow root, or an <embed> a document, of which the driver was not
// asked yet.
function suspicious(element, tag) {
  if (tag === 'embed') return !asked.has(element) && !isFrame(element);
  if (!(HOSTS.has(tag) || tag.includes('-')) || anyShadow(element)) return false;
  const before = asked.get(element);
  return before === undefined || (!before && element.matches(':defined'));
}

// worthAsking are those of the suspicious that are: what has no content but room on the page, custom elements, and what scripts hang
// on the body: its content may float over the page.
const worthAsking = (elements) => elements.filter((element) => {
  if (element.firstChild !== null || element.localName.includes('-')) return true;
  if (element.parentNode === document.body && element.hasAttributes()) return true;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}).slice(0, SUSPECTS);
const CHILDLESS = new Set('input textarea img iframe frame video audio canvas meter progress object embed select option'.split(' '));

// firstChildOf and assignedTo give what is rendered below an element: shadow content, or slotted nodes in their places.
const firstChildOf = (element, tag) => (shadowOf(element, tag) ?? element).firstChild;
const assignedTo = (element, tag) => (tag === 'slot' && element.assignedNodes().length ? element.assignedNodes() : null);

// flatChildren is the same as a list.
function flatChildren(element) {
  const tag = element.localName;
  return assignedTo(element, tag) ?? (shadowOf(element, tag) ?? element).childNodes;
}

// Cursors, attributes and roles by which an element that is no control says that it can be acted on.
const CURSORS = /^(pointer|grab|grabbing|move|copy|zoom-in|zoom-out|[a-z]+-resize)$/;
const HANDLERS = ['onclick', 'ondblclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'ontouchstart'];
const MARKERS = [
  'jsaction', 'data-action', 'data-toggle', 'data-bs-toggle', 'data-href', 'ng-click', 'phx-click', 'wire:click', 'x-on:click', '@click',
  'hx-get', 'hx-post', 'hx-put', 'hx-patch', 'hx-delete',
];
const STATES = ['aria-haspopup', 'aria-expanded', 'aria-pressed', 'aria-selected', 'aria-checked'];
const MOVED = '[draggable=true], .draggable, .cdk-drag, .drag-drop, .drag-handle, .drag-item, .resize-drag, [data-draggable]:not([data-draggable=false])';
const MARKED = [...HANDLERS, ...MARKERS, ...STATES, 'tabindex', 'contenteditable'].map((name) => `[${name.replace(/[:@]/g, '\\$&')}]`).join(',') +
  `, audio[controls], video[controls], ${MOVED}`;

// Fields stay what they are, whatever role markup gives them.
const isControl = (role, tag) => INTERACTIVE.has(role) || FIELDS.has(tag);

// Who listens for what is in it, and what that is then. DELEGATED is how many levels below a listener the parts may be.
const DELEGATES = new Set('generic grid group list listbox menu row rowgroup table tablist toolbar tree treegrid'.split(' '));
const PARTS = new Set('listitem option row treeitem'.split(' '));
const DELEGATED = 3;
const delegates = (element, role) => heard.has(element) && DELEGATES.has(role) && (role !== 'generic' || hears(element));

// recognizes says that a gesture library listens on an element: Hammer.js sets these styles.
const recognizes = (element) => heard.has(element) && element.style?.touchAction !== '' && element.style?.userSelect === 'none';

// holdsText says that an element has a short text of its own.
const PART_LIMIT = 100;
const holdsText = (element) => element.textContent.length <= PART_LIMIT &&
  Array.prototype.some.call(element.childNodes, (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');

// sorted says that an element is one of several that look alike, which Dragula may sort.
function sorted(element, tag, role) {
  const like = (other) => other?.localName === tag && other.className === element.className;
  return (role === 'generic' || PARTS.has(role)) && (like(element.nextElementSibling) || like(element.previousElementSibling));
}

// Roles whose content is no name even where a listener makes them clickable.
const HOLDERS = new Set([...STRUCTURAL, 'article', 'dialog', 'feed', 'form', 'main', 'navigation', 'region', 'search', 'tabpanel']
  .filter((role) => role !== 'generic'));

const DRAGGED = '[aria-roledescription=draggable], [aria-roledescription=sortable], [draggable=true], [ondragstart], .ui-draggable, ' +
  '.draggable, .drag-drop, .drag-item';

// dragging knows of which documents and shadow roots something can be dragged, for one look at the page.
let dragging = new Map();
function drags(root) {
  if (!dragging.has(root)) dragging.set(root, root.querySelector(DRAGGED) !== null);
  return dragging.get(root);
}

// drops says that something on the page can be dropped on an element: where nothing can be dragged, it takes a person's own files
// at best. jQuery UI and Interact.js drop on what has these classes, by listeners of the document.
const DROPPED_ON = '.ui-droppable, .dropzone';
const drops = (element) => (dropping.has(element) || element.matches(DROPPED_ON)) &&
  (drags(element.getRootNode()) || dragsAround(element.ownerDocument));

// dragsAround says that something can be dragged in a document or one around it. The driver looks in those of other
// origins, if unseenOutside asks for it, and tells what it found.
let unseenOutside = false;
let draggedOutside = false;
function dragsAround(doc) {
  if (drags(doc)) return true;
  const view = doc.defaultView;
  try {
    return view !== null && view.parent !== view && dragsAround(view.parent.document);
  } catch {
    unseenOutside = !draggedOutside;
    return draggedOutside;
  }
}

// dragsAround says so of the documents around a frame.
FUNCTIONS.dragsAround = (a) => {
  dragging = new Map();
  const owner = byRef(a.ref);
  return drags(owner.getRootNode()) || dragsAround(owner.ownerDocument);
};

const cursorName = (cursor) => cursor.slice(cursor.lastIndexOf(' ') + 1);
const pointsAt = (cursor, around) => cursor !== around && CURSORS.test(cursorName(cursor));

// promotion names why something that is no control can still be acted on, or ''. inside says that it is in a control, whose
// cursor is everybody's; part, that who holds it listens.
function promotion(element, tag, cursor, parentCursor, inside, part) {
  if (tag === 'body') return element.isContentEditable ? 'contenteditable' : '';
  if (tag === 'html' || tag === 'iframe' || (tag === 'label' && element.control?.checkVisibility())) return '';
  const reasons = [];
  if (!inside && pointsAt(cursor, parentCursor)) reasons.push(`cursor:${cursorName(cursor)}`);
  if (element.matches(MARKED)) marksOf(element, reasons);
  if (part && !heard.has(element)) reasons.push('item');
  if (reasons.length === 0 && hears(element)) reasons.push(HEARD);
  if (reasons.length === 0 && tag !== 'canvas' && getComputedStyle(element).touchAction === 'none') reasons.push('touch-action');
  if (opening.has(element)) reasons.push('hover');
  if (drops(element)) reasons.push('drop');
  return reasons.join(', ');
}

function marksOf(element, reasons) {
  for (const name of HANDLERS) if (element.hasAttribute(name)) reasons.push(name);
  if (element.hasAttribute('tabindex') && element.tabIndex >= 0) reasons.push('tabindex');
  if (element.isContentEditable && !element.parentElement?.isContentEditable) reasons.push('contenteditable');
  if (element.matches(MOVED)) reasons.push('draggable');
  if (element instanceof HTMLMediaElement && element.controls) reasons.push('controls');
  if (reasons.length > 0) return;
  const mark = MARKERS.find((name) => element.hasAttribute(name)) ??
    STATES.find((name) => element.hasAttribute(name) && !(name === 'aria-haspopup' && element.getAttribute(name) === 'false'));
  if (mark) reasons.push(mark);
}

// hiddenControl is the control that only its label shows, or null.
function hiddenControl(label) {
  const control = label.control;
  return control && !control.checkVisibility(SEEN) && control.type !== 'hidden' ? control : null;
}

// draws says that a drawing has parts to be told of: an icon has none.
const DRAWN = `a, text, image, foreignObject, [role], [aria-label], ${MARKED}`;
const ICON_PARTS = 8;
const ICON_SIZE = 100;
const draws = (svg) => drawings.has(svg) || svg.getElementsByTagName('*').length > ICON_PARTS || svg.querySelector(DRAWN) !== null ||
  svg.getBoundingClientRect().width > ICON_SIZE;

// hiddenIcon names why something is an icon to be clicked, though it is hidden from screen readers, or ''. It is a small thing of at
// most one word, and no control's only content.
function hiddenIcon(element, tag, inside) {
  const text = element.textContent.trim();
  if (element.getElementsByTagName('*').length > ICON_PARTS || /\s/.test(text) || tag === 'label') return '';
  if (INTERACTIVE.has(roleOf(element, tag)) || !element.checkVisibility(SEEN)) return '';
  const around = element.parentElement;
  const points = () => around && getComputedStyle(element).cursor === 'pointer' && getComputedStyle(around).cursor !== 'pointer';
  if ((inside && around?.textContent.trim() === text) || !(heard.has(element) || points())) return '';
  const { width, height } = element.getBoundingClientRect();
  if (Math.min(width, height) <= 1 || Math.max(width, height) > ICON_SIZE) return '';
  return heard.has(element) ? HEARD : 'cursor:pointer';
}

// keyFields knows the fields of documents and shadow roots that take keys and cannot be seen, for one look at the page.
let keyFields = new Map();
const isUnseen = (field) => field.checkVisibility(SEEN) &&
  (field.editContext != null || !field.checkVisibility({ opacityProperty: true }) || isPoint(field));
function fieldsForKeys(root) {
  if (!keyFields.has(root)) keyFields.set(root, Array.from(root.querySelectorAll('textarea, [role=textbox]')).filter(isUnseen));
  return keyFields.get(root);
}

// drawsField says that an element shows what is written in such a field near it, as in terminals and code editors: it is hidden from
// screen readers, which have little of the text in that field.
const FIELD_LEVELS = 4;
function drawsField(element) {
  const fields = fieldsForKeys(element.getRootNode()).filter((field) => !element.contains(field));
  if (fields.length === 0 || !element.checkVisibility(SEEN)) return false;
  const { width, height } = element.getBoundingClientRect();
  if (Math.min(width, height) <= ICON_SIZE) return false;
  for (let around = element.parentElement, i = 0; around && i < FIELD_LEVELS; around = around.parentElement, i++) {
    if (fields.some((field) => around.contains(field))) return true;
  }
  return false;
}

// offers says that a part of a small drawing can be clicked, by its cursor. In a control it is the control's.
const offers = (svg, cursor, inside) => !inside &&
  Array.prototype.some.call(svg.getElementsByTagName('*'), (part) => pointsAt(getComputedStyle(part).cursor, cursor));

// Text that is longer is clipped where the whole is to be short.
const TEXT_LIMIT = 4000;
// A walk that is to be short goes on past its limit for what can be acted on, but not for ever.
const PATIENCE = 20;
const LEAST_LIMIT = 400000;
// How many elements that look alike are told apart by what is around them.
const ALIKE_LIMIT = 300;

class Walk {
  constructor(options) {
    this.interactive = options.interactive;
    this.compact = options.compact;
    this.maxDepth = options.depth ?? Infinity;
    // A flat list is cut, so that it need not be walked to its end.
    this.limit = !options.maxChars ? Infinity : this.interactive ? options.maxChars : Math.max(options.maxChars * PATIENCE, LEAST_LIMIT);
    this.textLimit = options.maxChars ? TEXT_LIMIT : Infinity;
    this.addresses = options.addresses;
    this.lines = [];
    this.kinds = [];
    this.elements = []; // of lines that look like others, in a flat list
    this.delegated = 0;
    this.gestures = false; // a gesture library listens around
    this.chars = 0;
    this.stopped = false;
    this.frames = [];
    this.bare = [];
    this.custom = [];
    this.owned = null;
    this.muted = false;
    dragging = new Map();
    keyFields = new Map();
    unseenOutside = false;
  }

  // A scope collects the text that flows directly in a node until something with a line of its own interrupts it.
  flush(scope) {
    const text = squeeze(scope.text);
    scope.text = '';
    if (!text || this.interactive || scope.depth > this.maxDepth) return;
    this.push(`${this.indent(scope.depth)}- text: ${this.clipped(text)}`);
  }

  // clipped is a text as it may stand in a line; a long one is told by its beginning and its length.
  clipped(text) {
    if (text.length <= this.textLimit) return unmistakable(text);
    return unmistakable(`${clip(text, this.textLimit)} (${text.length} characters)`);
  }

  indent(depth) {
    return this.interactive ? '' : (INDENT[depth] ?? '  '.repeat(depth));
  }

  push(line) {
    this.kinds[this.lines.length] = HAS_VALUE;
    this.lines.push(line);
    this.count(line.length + 1);
  }

  count(n) {
    this.chars += n;
    if (this.chars > this.limit + 1) this.stopped = true; // the last line has no end
  }

  document(doc, depth) {
    const root = doc.body ?? doc.documentElement;
    if (!root) return;
    const modals = Array.from(doc.getElementsByTagName('dialog')).filter((dialog) => dialog.matches(':modal'));
    if (modals.length === 0) return this.within(doc, depth, (scope) => this.element(root, scope, '', false));
    // All else is inert. What happens there is told all the same.
    const told = Array.from(doc.querySelectorAll('[role=alert], [role=status], [role=log], [aria-live=polite], [aria-live=assertive]'))
      .filter((e) => !modals.some((dialog) => dialog.contains(e)));
    const outermost = (list) => list.filter((e) => !list.some((other) => other !== e && other.contains(e)));
    this.within(doc, depth, (scope) => {
      for (const e of outermost([...modals, ...told])) this.element(e, scope, getComputedStyle(e.parentElement).cursor, false);
    });
  }

  // within visits something of a document.
  within(doc, depth, visit) {
    const before = this.owned;
    const around = opening;
    const sorts = sorting;
    this.owned = owned(doc);
    const active = this.active;
    this.active = deepActive(doc);
    opening = opensOnHover(doc);
    sorting = sheetsOf(doc).some((sheet) => readSheet(sheet).sorts);
    const scope = { text: '', depth };
    visit(scope);
    this.flush(scope);
    this.active = active;
    this.owned = before;
    opening = around;
    sorting = sorts;
  }

  // scoped visits what is below an element, and the element itself if it is a control or holds nothing but text.
  scoped(root) {
    if (!reachable(root)) return;
    const tag = root.localName;
    const style = getComputedStyle(root);
    const role = roleOf(root, tag);
    const itself = isControl(role, tag) || role === 'Iframe' || promotion(root, tag, style.cursor, '', false, false) !== '' ||
      (root.firstElementChild === null && shadowOf(root, tag) === null);
    this.within(root.ownerDocument, 0, (scope) => {
      if (itself) this.element(root, scope, '', false);
      else this.inner(root, tag, scope, style.cursor, false, style.visibility === 'visible');
    });
  }

  children(element, tag, scope, cursor, inside, visible) {
    const assigned = assignedTo(element, tag);
    if (assigned) {
      for (const node of assigned) this.child(node, scope, cursor, inside, visible);
    } else if (element.firstElementChild === null && shadowOf(element, tag) === null) {
      if (element.firstChild === null || tag.includes('-')) this.suspect(element, tag);
      if (visible && !this.muted) scope.text += element.textContent;
    } else {
      if (tag.includes('-')) this.suspect(element, tag);
      const root = shadowOf(element, tag);
      if (root) for (const found of opensOnHover(root)) opening.add(found);
      for (let node = firstChildOf(element, tag); node && !this.stopped; node = node.nextSibling) {
        this.child(node, scope, cursor, inside, visible);
      }
    }
    if (this.owned && element.hasAttribute('aria-owns')) {
      for (const child of referenced(element, element.getAttribute('aria-owns'))) {
        if (this.owned.get(child) === element) this.element(child, scope, cursor, inside);
      }
    }
  }

  child(node, scope, cursor, inside, visible) {
    const type = node.nodeType;
    if (type === 3) {
      if (visible && !this.muted) scope.text += node.data;
    } else if (type === 1 && !this.owned?.has(node)) {
      this.element(node, scope, cursor, inside);
    }
  }

  suspect(element, tag) {
    if (suspicious(element, tag)) this.bare.push(element);
  }

  // element visits one element. parentCursor tells where cursor:pointer begins; inside says that an ancestor is a control.
  element(element, scope, parentCursor, inside) {
    const tag = element.localName;
    if (UNSPOKEN.has(tag)) return;
    if (tag === 'br') {
      scope.text += ' ';
      return;
    }
    const plain = !element.hasAttributes();
    if (!plain && element.hasAttribute('inert')) return;
    const role = roleOf(element, tag);
    if (!plain && element.getAttribute('aria-hidden') === 'true') {
      const reason = hiddenIcon(element, tag, inside);
      if (reason) this.node(element, tag, role, scope, 'pointer', inside, false, reason);
      else if (!inside && drawsField(element)) this.transparent(element, tag, scope, '', inside, 'block', true);
      return;
    }
    const control = isControl(role, tag);
    if (tag.includes('-') && internals.get(element)) this.custom.push(element); // its states may be others now
    if (control && tag !== 'option' && element.checkVisibility(SEEN)) {
      // The cursor and the display of a control tell nothing more.
      this.node(element, tag, role, scope, 'pointer', inside, true, drops(element) ? 'drop' : '');
      return;
    }
    const style = getComputedStyle(element);
    const display = style.display;
    if (display === '') {
      // It is not rendered though its parent is: a closed root has no place for it.
      if (element.parentElement) this.suspect(element.parentElement, element.parentElement.localName);
      return;
    }
    if (tag === 'input' && element.type === 'file' && !labelsOf(element).some((label) => label.checkVisibility(SEEN))) {
      this.node(element, tag, role, scope, 'pointer', inside, true, 'hidden'); // files can be given to it all the same
      return;
    }
    if (display === 'none' && tag !== 'option' && tag !== 'optgroup') return;
    if (!plain && style.contentVisibility === 'hidden') return; // as where hidden=until-found is
    const visible = style.visibility === 'visible';
    const cursor = style.cursor;
    const part = (this.delegated > 0 && (PARTS.has(role) || (tag === 'text' && !inside))) ||
      (this.gestures && !inside && holdsText(element)) || (sorting && !inside && sorted(element, tag, role));
    const reasons = control || (plain && cursor === parentCursor && !listening.size && !part && !opening.size) ? '' : promotion(element, tag, cursor, parentCursor, inside, part);

    if (reasons && mayTell(element, tag)) this.custom.push(element);
    if (tag === 'label' && visible && hiddenControl(element)) {
      this.node(element, tag, role, scope, 'pointer', inside, true, 'label');
    } else if (!visible || (role === 'generic' && !reasons)) {
      this.transparent(element, tag, scope, cursor, inside, display, visible);
    } else {
      this.node(element, tag, role === 'generic' ? WHEN_PROMOTED[tag] ?? role : role, scope, cursor, inside, control, reasons);
    }
    if (tag === 'img' && visible && element.useMap) this.areas(element, scope, inside);
  }

  // areas visits the areas of an image map, which are rendered nowhere themselves.
  areas(image, scope, inside) {
    const map = Array.from(image.getRootNode().querySelectorAll('map')).find((m) => `#${m.name}` === image.useMap);
    for (const area of map?.areas ?? []) {
      if (area.href) this.node(area, 'area', roleOf(area, 'area'), scope, 'pointer', inside, true, '');
    }
  }

  transparent(element, tag, scope, cursor, inside, display, visible) {
    const drawn = element.namespaceURI !== HTML;
    const inline = drawn || display.startsWith('inline') || display === 'contents';
    if (drawn) scope.text += ' ';
    if (!inline) this.flush(scope);
    if (tag === 'details' && !element.open) this.summaryOnly(element, scope, cursor);
    else if (tag === 'label' && this.names(element)) this.silently(() => this.children(element, tag, scope, cursor, inside, visible));
    else if (tag !== 'svg' || draws(element) || offers(element, cursor, inside)) this.inLevel(element, 'generic', () => this.children(element, tag, scope, cursor, inside, visible));
    if (!inline) this.flush(scope);
    if (drawn) scope.text += ' ';
  }

  // inLevel visits what is in an element. Where that listens for its parts, they can be acted on.
  inLevel(element, role, visit) {
    const before = this.delegated;
    if (listening.size && delegates(element, role)) this.delegated = DELEGATED;
    else if (before > 0 && element.namespaceURI === HTML) this.delegated--; // drawings are deep
    const around = this.gestures;
    this.gestures ||= listening.size > 0 && recognizes(element);
    visit();
    this.delegated = before;
    this.gestures = around;
  }

  // names says that a label is told already, as the name of its control.
  names(label) {
    const control = label.control;
    return control != null && control.checkVisibility() && isControl(roleOf(control, control.localName), control.localName) && !control.hasAttribute('aria-label') && !control.hasAttribute('aria-labelledby');
  }

  silently(visit) {
    const before = this.muted;
    this.muted = true;
    visit();
    this.muted = before;
  }

  summaryOnly(element, scope, cursor) {
    for (const child of element.children) {
      if (child.localName === 'summary') return this.element(child, scope, cursor, false);
    }
  }

  node(element, tag, role, scope, cursor, inside, control, reasons) {
    if (tag === 'input' && element.type === 'hidden') return;
    this.flush(scope);
    let subject = element; // what the line tells of: behind a label, its control
    if (reasons === 'label') {
      subject = element.control;
      role = roleOf(subject, subject.localName);
    }
    let name = this.nameFor(subject, subject.localName, role);
    const visit = (into) => this.inLevel(element, role, () => this.inner(element, tag, into, cursor, inside || control));
    const bare = this.compact && !name && !reasons && STRUCTURAL.has(role);
    const shown = this.interactive ? control || reasons || role === 'Iframe' : !bare;
    const depth = scope.depth;
    const group = role === 'rowgroup' && !name && !reasons;
    if (!shown || group) {
      if (bare || group) {
        visit(scope);
        this.flush(scope);
      } else if (depth < this.maxDepth) {
        const below = { text: '', depth: depth + 1 };
        visit(below);
        this.flush(below);
      }
      return;
    }
    if (depth > this.maxDepth) return;

    if (control || reasons || role === 'Iframe' || this.refers(role, name)) refOf(element); // before what is in it
    const at = this.lines.length;
    const before = this.chars;
    this.lines.push('');
    this.kinds[at] = 0;
    const below = { text: '', depth: depth + 1 };
    const hints = this.hints(element, tag, role, name, depth);
    if (reasons !== 'label') visit(below);
    else this.silently(() => visit(below));
    const leaf = this.lines.length === at + 1 + hints;
    const acts = !leaf && this.hasActions(at + 1 + hints);
    let text = leaf ? squeeze(below.text) : '';
    let absorbed = false;
    if (!name && (reasons && !control && this.tellsContent(role, acts) || NAMED_WHEN_LEAF.has(role) && leaf)) {
      const full = leaf && !this.interactive ? text : squeeze(contentText(element));
      name = clip(full, reasons ? 100 : NAME_LIMIT);
      absorbed = name === full && !acts;
      if (!absorbed && !leaf && !this.interactive) name = ''; // what is in it tells the whole
    }
    if (control || absorbed || (NAMED_BY_CONTENT.has(role) && name)) {
      text = '';
      below.text = '';
      if (!leaf && !acts && !this.interactive && tag !== 'select' && !/^(listbox|combobox)$/.test(role)) {
        this.lines.length = at + 1 + hints;
        this.chars = before;
      }
    }
    if (!leaf) this.flush(below);
    const value = valueOf(subject, subject.localName, role);
    if (value) text = squeeze(value);
    else if (reasons.includes('contenteditable') && name !== text) text ||= squeeze(contentText(element));
    const lane = name || !reasons.includes('drop') ? '' : laneName(element);
    if (this.interactive) {
      text = value ? text : '';
      if (!lane) this.elements[at] = element;
    }
    const parent = this.lines.length > at + 1 && !this.interactive;
    const marks = lane ? `${reasons}] [in ${quote(lane)}` : reasons;
    this.lines[at] = this.line(at, element, subject, role, name, marks, control, depth, text, parent);
    this.count(this.lines[at].length + 1);
    if (role === 'Iframe') this.frame(element, at, depth);
  }

  // tellsContent says that what is in something clickable is its name: not where it has a line of its own.
  tellsContent(role, acts) {
    if (this.interactive) return !HOLDERS.has(role) || role === 'row';
    return !acts && !HOLDERS.has(role);
  }

  nameFor(element, tag, role) {
    if (role === 'paragraph' && !element.hasAttributes()) return '';
    if (role === 'generic') return clip(authorName(element) || (element.namespaceURI === SVG ? drawnTitle(element) : '') || tooltip(element));
    if (role === 'cell') return element.hasAttributes() ? clip(authorName(element)) : '';
    if (role === 'row' || role === 'listitem') return element.hasAttributes() ? clip(authorName(element) || tooltip(element)) : '';
    return nameOf(element, role);
  }

  // hints are property lines below a node: what a field asks for beyond its name, where a link leads. Returns how many there are.
  hints(element, tag, role, name, depth) {
    if (this.interactive || depth + 1 > this.maxDepth) return 0;
    if (role === 'link' && this.addresses && element.hasAttribute('href')) {
      this.push(`${this.indent(depth + 1)}- /url: ${clip(squeeze(element.getAttribute('href')), 1000)}`);
      return 1;
    }
    if (tag !== 'input' && tag !== 'textarea') return 0;
    const placeholder = squeeze(element.getAttribute('placeholder') ?? '');
    if (!placeholder || placeholder === name) return 0;
    this.push(`${this.indent(depth + 1)}- /placeholder: ${clip(placeholder, 200)}`);
    return 1;
  }

  inner(element, tag, scope, cursor, inside, visible = true) {
    switch (tag) {
      case 'select':
        return this.options(element, scope);
      case 'details':
        if (!element.open) return this.summaryOnly(element, scope, cursor);
        break;
      case 'input': case 'textarea': case 'img': case 'iframe': case 'frame': case 'video': case 'audio': case 'canvas':
      case 'meter': case 'progress': case 'object': case 'option': case 'area':
        return;
      case 'svg':
        if (!draws(element) && !offers(element, cursor, inside)) return;
    }
    this.children(element, tag, scope, cursor, inside, visible);
  }

  options(element, scope) {
    if (this.interactive || scope.depth > this.maxDepth) return;
    let left = OPTION_LIMIT;
    const list = (parent, depth) => {
      for (const child of parent.children) {
        if (left === 0 || this.stopped) return;
        if (child.localName === 'optgroup') {
          const at = this.lines.length;
          this.push('');
          this.lines[at] = this.line(at, child, child, 'group', nameOf(child, 'group'), '', false, depth, '', child.firstElementChild !== null);
          list(child, depth + 1);
        } else if (child.localName === 'option') {
          left--;
          this.push('');
          const at = this.lines.length - 1;
          this.lines[at] = this.line(at, child, child, 'option', nameOf(child, 'option'), '', true, depth, '', false);
          this.count(this.lines[at].length);
        }
      }
    };
    list(element, scope.depth);
    const hidden = element.options.length - OPTION_LIMIT;
    if (hidden > 0) this.push(`${this.indent(scope.depth)}- text: … ${hidden} more options`);
  }

  // refers says that something has a ref for its name: content, and what holds it where something may be dragged there.
  refers(role, name) {
    if (!name || CONTENT.has(role)) return name !== '';
    if (!HOLDERS.has(role)) return false;
    return drags(document);
  }

  // takesText says that something can be written into a cell though it is empty: that of a grid, or of a table that listens.
  takesText(role) {
    return role === 'gridcell' || (role === 'cell' && this.delegated > 0);
  }

  // hasActions says that lines from an index on have something that can be acted on.
  hasActions(from) {
    for (let i = from; i < this.lines.length; i++) if (this.kinds[i] & ACTS) return true;
    return false;
  }

  line(at, element, subject, role, name, reasons, control, depth, text, parent) {
    let line = `${this.indent(depth)}- ${role}`;
    if (name) line += ` ${quote(name)}`;
    const tag = subject.localName;
    if (subject.hasAttributes() || control || role === 'heading' || tag === 'summary' || element === this.active) {
      line += states(subject, tag, role, this.active);
    }
    this.kinds[at] = text ? HAS_VALUE : 0;
    const acts = control || reasons || role === 'Iframe';
    if (acts || this.refers(role, name) || (!name && !text && !parent && this.takesText(role))) {
      this.kinds[at] |= acts ? HAS_REF | ACTS : HAS_REF;
      line += ` [ref=${refOf(element)}]`;
    }
    if (reasons) line += ` [${reasons}]`;
    if (text) return `${line}: ${this.clipped(text)}`;
    return parent ? `${line}:` : line;
  }

  // finish applies what is known at the end only, and returns the text.
  finish() {
    if (this.interactive) this.tellApart();
    else if (this.compact) this.dropEmpty();
    return { text: this.lines.join('\n') };
  }

  // tellApart adds what is around them to elements of a flat list that look alike.
  tellApart() {
    const seen = new Map();
    this.lines.forEach((line, at) => {
      if (!this.elements[at]) return;
      const key = line.replace(/ \[ref=\w+\].*$/s, '');
      if (seen.has(key)) seen.get(key).push(at);
      else seen.set(key, [at]);
    });
    let left = ALIKE_LIMIT;
    for (const alike of seen.values()) {
      if (alike.length === 1) continue;
      for (const at of alike) {
        if (left-- === 0) return;
        const around = surroundings(this.elements[at]);
        if (around) this.lines[at] = this.lines[at].replace(/ \[ref=\w+\]/, (ref) => `${ref} [in ${quote(around)}]`);
      }
    }
  }

  // dropEmpty keeps lines with a ref or a value, and those that lead to a ref.
  dropEmpty() {
    const kept = [];
    let leads = -1; // depth above which a line leads to the ref below it
    for (let at = this.lines.length - 1; at >= 0; at--) {
      const depth = this.lines[at].search(/[^ ]/) / 2;
      const here = this.kinds[at] & HAS_REF || (leads > depth);
      if (here) leads = depth;
      if (here || this.kinds[at] & HAS_VALUE) kept.push(at);
    }
    kept.reverse();
    const place = new Map(kept.map((at, i) => [at, i]));
    for (const hole of this.frames) hole.line = place.get(hole.line);
    const depths = kept.map((at) => this.lines[at].search(/[^ ]/));
    this.lines = kept.map((at, i) => {
      const line = this.lines[at];
      return this.kinds[at] & HAS_VALUE || depths[i + 1] > depths[i] ? line : line.replace(/:$/, '');
    });
    this.kinds = kept.map((at) => this.kinds[at]);
  }

  // frame continues in an embedded document, or leaves a mark for one that lives in another process or has not loaded.
  frame(element, at, depth) {
    const doc = embedded(element);
    if (!doc || (doc.URL === 'about:blank' && !doc.body?.firstChild && /^https?:/.test(element.src))) {
      this.frames.push({ ref: refOf(element), line: at, depth: depth + 1 });
      return;
    }
    const lines = this.lines.length;
    if (depth + 1 <= this.maxDepth || this.interactive) this.document(doc, depth + 1);
    if (this.lines.length === lines || this.interactive) return;
    this.lines[at] += ':';
  }
}

// laneName tells what is dropped on from others like it, by its heading or by what is around it.
const laneName = (element) => inBrackets(element.querySelector('h1, h2, h3, h4, h5, h6, [role=heading]')?.textContent ?? '') || surroundings(element);

const inBrackets = (text) => clip(squeeze(text), SURROUNDINGS).replace(/[[\]]/g, ' ').trim();

// surroundings names what an element is in: the group, row or card around it, or the nearest text that is not its own.
const SURROUNDINGS = 60;
function surroundings(element) {
  const own = squeeze(element.textContent) || nameOf(element, roleOf(element, element.localName));
  for (let n = parentOf(element), i = 0; n && i < 12; n = parentOf(n), i++) {
    if (n.localName === 'body') break;
    if (n.nodeType !== Node.ELEMENT_NODE) continue;
    const named = authorName(n) || (n.localName === 'label' ? '' : hostName(n));
    const text = named || squeeze(n.textContent.slice(0, 600));
    if (text && text !== own) return inBrackets(text.replaceAll(own, '').trim() || text);
  }
  return '';
}
