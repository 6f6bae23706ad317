// The walk of a snapshot over the flat tree of this process's documents: one line a node.

const INDENT = Array.from({ length: 64 }, (_, i) => '  '.repeat(i));
const QUOTED = /["\\\u0000-\u001f\u2028\u2029]/;
const quote = (text) => (QUOTED.test(text) ? JSON.stringify(text) : `"${text}"`);
const OPTION_LIMIT = 60;
const SEEN = { visibilityProperty: true };

// Only these, and custom elements, can have a shadow root; asking every element for one is slow.
const HOSTS = new Set(('article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span').split(' '));
const shadowOf = (element, tag) => (HOSTS.has(tag) || tag.includes('-') ? anyShadow(element) : null);

// What a line has, in Walk.kinds.
const HAS_REF = 1;
const HAS_VALUE = 2;
const SUSPECTS = 256;

// suspicious says that an element may have a closed shadow root, of which the driver was not asked yet.
function suspicious(element, tag) {
  if (!(HOSTS.has(tag) || tag.includes('-')) || anyShadow(element)) return false;
  const before = asked.get(element);
  return before === undefined || (!before && element.matches(':defined'));
}

// worthAsking are those of the suspicious that are: what has no content but room on the page, and custom elements.
const worthAsking = (elements) => elements.filter((element) => {
  if (element.firstChild !== null) return true;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}).slice(0, SUSPECTS);
const CHILDLESS = new Set('input textarea img iframe frame video audio svg canvas meter progress object embed select'.split(' '));

// firstChildOf and assignedTo give what is rendered below an element: shadow content, or slotted nodes in their places.
const firstChildOf = (element, tag) => (shadowOf(element, tag) ?? element).firstChild;
const assignedTo = (element, tag) => (tag === 'slot' && element.assignedNodes().length ? element.assignedNodes() : null);

// flatChildren is the same as a list.
function flatChildren(element) {
  const tag = element.localName;
  return assignedTo(element, tag) ?? (shadowOf(element, tag) ?? element).childNodes;
}

// promotion names why something that is no control can still be clicked, or ''.
function promotion(element, tag, cursor, parentCursor, inside) {
  if (tag === 'body' || tag === 'html' || tag === 'iframe' || (tag === 'label' && element.control?.checkVisibility())) return '';
  const reasons = [];
  if (cursor === 'pointer' && parentCursor !== 'pointer' && !inside) reasons.push('cursor:pointer');
  if (element.hasAttribute('onclick')) reasons.push('onclick');
  if (!inside && element.hasAttribute('tabindex') && element.tabIndex >= 0) reasons.push('tabindex');
  if (element.isContentEditable && !element.parentElement?.isContentEditable) reasons.push('contenteditable');
  if (reasons.length === 0 && !inside && parentCursor !== 'pointer' && hears(element)) return HEARD;
  return reasons.join(', ');
}

class Walk {
  constructor(options) {
    this.interactive = options.interactive;
    this.compact = options.compact;
    this.maxDepth = options.depth ?? Infinity;
    // What compact leaves out is known at the end only.
    this.limit = (this.compact && !this.interactive ? 0 : options.maxChars) || Infinity;
    this.numbered = options.numbered;
    this.addresses = options.addresses;
    this.lines = [];
    this.kinds = [];
    this.marks = [];
    this.chars = 0;
    this.stopped = false;
    this.frames = [];
    this.bare = [];
    this.owned = null;
    this.muted = false;
  }

  // A scope collects the text that flows directly in a node until something with a line of its own interrupts it.
  flush(scope) {
    const text = squeeze(scope.text);
    scope.text = '';
    if (!text || this.interactive || scope.depth > this.maxDepth) return;
    this.push(`${this.indent(scope.depth)}- text: ${text}`);
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
    if (this.chars > this.limit) this.stopped = true;
  }

  document(doc, depth) {
    const root = doc.body ?? doc.documentElement;
    if (!root) return;
    this.within(doc, depth, (scope) => this.element(root, scope, '', false));
  }

  // within visits something of a document.
  within(doc, depth, visit) {
    const before = this.owned;
    this.owned = owned(doc);
    const active = this.active;
    this.active = deepActive(doc);
    const scope = { text: '', depth };
    visit(scope);
    this.flush(scope);
    this.active = active;
    this.owned = before;
  }

  // scoped visits what is below an element, and the element itself if it is a control or holds nothing but text.
  scoped(root) {
    if (!reachable(root)) return;
    const tag = root.localName;
    const style = getComputedStyle(root);
    const role = roleOf(root, tag);
    const itself = INTERACTIVE.has(role) || role === 'Iframe' || promotion(root, tag, style.cursor, '', false) !== '' ||
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
    if (!plain && (element.getAttribute('aria-hidden') === 'true' || element.hasAttribute('inert'))) return;
    const role = roleOf(element, tag);
    const control = INTERACTIVE.has(role);
    if (control && tag !== 'option' && element.checkVisibility(SEEN)) {
      // The cursor and the display of a control tell nothing more.
      this.node(element, tag, role, scope, 'pointer', inside, true, '');
      return;
    }
    const style = getComputedStyle(element);
    const display = style.display;
    if (display === '') {
      // It is not rendered though its parent is: a closed root has no place for it.
      if (element.parentElement) this.suspect(element.parentElement, element.parentElement.localName);
      return;
    }
    if (display === 'none' && tag !== 'option' && tag !== 'optgroup') return;
    if (!plain && element.getAttribute('hidden') === 'until-found') return;
    const visible = style.visibility === 'visible';
    const cursor = style.cursor;
    const reasons = control || (plain && cursor !== 'pointer' && !listening.size) ? '' : promotion(element, tag, cursor, parentCursor, inside);

    if (!visible || (role === 'generic' && !reasons)) {
      this.transparent(element, tag, scope, cursor, inside, display, visible);
      return;
    }
    this.node(element, tag, role, scope, cursor, inside, control, reasons);
  }

  transparent(element, tag, scope, cursor, inside, display, visible) {
    const inline = display.startsWith('inline') || display === 'contents';
    if (!inline) this.flush(scope);
    if (tag === 'details' && !element.open) this.summaryOnly(element, scope, cursor);
    else if (tag === 'label' && this.names(element)) this.silently(() => this.children(element, tag, scope, cursor, inside, visible));
    else if (tag !== 'svg') this.children(element, tag, scope, cursor, inside, visible);
    if (!inline) this.flush(scope);
  }

  // names says that a label is told already, as the name of its control.
  names(label) {
    const control = label.control;
    return control != null && control.checkVisibility() && !control.hasAttribute('aria-label') && !control.hasAttribute('aria-labelledby');
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
    let name = this.nameFor(element, tag, role);
    const shown = this.interactive ? control || reasons || role === 'Iframe' : !(this.compact && !name && !reasons && STRUCTURAL.has(role));
    const depth = scope.depth;
    const counts = !(this.compact && !name && !reasons && STRUCTURAL.has(role));
    if (!shown || role === 'rowgroup') {
      if (!counts || role === 'rowgroup') {
        this.inner(element, tag, scope, cursor, inside);
        this.flush(scope);
      } else if (depth < this.maxDepth) {
        const below = { text: '', depth: depth + 1 };
        this.inner(element, tag, below, cursor, inside);
        this.flush(below);
      }
      return;
    }
    if (depth > this.maxDepth) return;

    if (control || reasons || role === 'Iframe') refOf(element);
    const at = this.lines.length;
    const before = this.chars;
    this.lines.push('');
    this.kinds[at] = 0;
    const below = { text: '', depth: depth + 1 };
    const hints = this.hints(element, tag, role, name, depth);
    this.inner(element, tag, below, cursor, inside || control || (reasons !== '' && reasons !== HEARD)); // who listens may do so for what is in it
    const leaf = this.lines.length === at + 1 + hints;
    let text = leaf ? squeeze(below.text) : '';
    let absorbed = false;
    if (!name && (reasons && !control || NAMED_WHEN_LEAF.has(role) && leaf)) {
      const full = leaf ? text : squeeze(contentText(element));
      name = clip(full, reasons ? 100 : NAME_LIMIT);
      absorbed = name === full;
    }
    if (control || absorbed || (NAMED_BY_CONTENT.has(role) && name)) {
      text = '';
      below.text = '';
      if (!leaf && !this.hasControls(at + 1 + hints) && tag !== 'select' && !/^(listbox|combobox)$/.test(role)) {
        this.lines.length = at + 1 + hints;
        this.chars = before;
      }
    }
    if (!leaf) this.flush(below);
    const value = valueOf(element, tag, role);
    if (value) text = squeeze(value);
    else if (reasons.includes('contenteditable') && name !== text) text ||= squeeze(element.textContent);
    if (this.interactive) text = value ? text : '';
    this.lines[at] = this.line(at, element, tag, role, name, reasons, control, depth, text, this.lines.length > at + 1 && !this.interactive);
    this.count(this.lines[at].length + 1);
    if (role === 'Iframe') this.frame(element, at, depth);
  }

  nameFor(element, tag, role) {
    if (role === 'paragraph' && !element.hasAttributes()) return '';
    if (role === 'generic') return clip(authorName(element) || squeeze(element.getAttribute('title') ?? ''));
    if (role === 'cell' || role === 'row' || role === 'listitem') return element.hasAttributes() ? clip(authorName(element)) : '';
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
      case 'input': case 'textarea': case 'img': case 'iframe': case 'frame': case 'video': case 'audio': case 'svg': case 'canvas':
      case 'meter': case 'progress': case 'object': case 'embed': case 'option':
        return;
    }
    this.children(element, tag, scope, cursor, inside, visible);
  }

  options(element, scope) {
    if (this.interactive || scope.depth > this.maxDepth) return;
    const options = element.options;
    const shown = Math.min(options.length, OPTION_LIMIT);
    for (let i = 0; i < shown && !this.stopped; i++) {
      const option = options[i];
      const line = this.line(this.lines.length, option, 'option', 'option', nameOf(option, 'option'), '', true, scope.depth, '', false);
      this.lines.push(line);
      this.count(line.length + 1);
    }
    if (options.length > shown) this.push(`${this.indent(scope.depth)}- text: … ${options.length - shown} more options`);
  }

  hasControls(from) {
    for (let i = from; i < this.lines.length; i++) {
      const role = /^ *- (\w+)/.exec(this.lines[i])?.[1];
      if (INTERACTIVE.has(role) || role === 'Iframe' || role === 'generic') return true;
    }
    return false;
  }

  line(at, element, tag, role, name, reasons, control, depth, text, parent) {
    let line = `${this.indent(depth)}- ${role}`;
    if (name) line += ` ${quote(name)}`;
    if (element.hasAttributes() || control || role === 'heading' || tag === 'summary' || element === this.active) {
      line += states(element, tag, role, this.active);
    }
    this.kinds[at] = text ? HAS_VALUE : 0;
    if (control || reasons || role === 'Iframe' || (name && CONTENT.has(role))) {
      this.kinds[at] |= HAS_REF;
      if (this.numbered) {
        const tail = reasons ? ` [${reasons}]` : '';
        this.marks[at] = { element, role, name, tail: text ? `${tail}: ${text}` : parent ? `${tail}:` : tail };
        this.count(this.marks[at].tail.length + ' [ref=e1]'.length);
        return line;
      }
      line += ` [ref=${refOf(element)}]`;
    }
    if (reasons) line += ` [${reasons}]`;
    if (text) return `${line}: ${text}`;
    return parent ? `${line}:` : line;
  }

  // finish applies what is known at the end only, and returns the text and, of numbered refs, the elements' own ones.
  finish() {
    if (this.compact && !this.interactive) this.dropEmpty();
    if (!this.numbered) return { text: this.lines.join('\n'), count: 0, refs: '' };
    const refs = [];
    const roles = new Map(); // role → name → how many so far
    let inOrder = true; // the elements' own refs are e1, e2, … too
    const lines = this.lines.map((line, at) => {
      if (!(this.kinds[at] & HAS_REF)) return line;
      const { element, role, name, tail } = this.marks[at];
      let names = roles.get(role);
      if (!names) roles.set(role, names = new Map());
      const nth = names.get(name) ?? 0;
      names.set(name, nth + 1);
      const own = refOf(element);
      refs.push(own);
      const ref = `e${refs.length}`;
      inOrder &&= own === ref;
      return nth ? `${line} [ref=${ref}] [nth=${nth}]${tail}` : `${line} [ref=${ref}]${tail}`;
    });
    return { text: lines.join('\n'), count: refs.length, refs: inOrder ? '' : refs.join(' ') };
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
      const mark = this.marks[at];
      if (this.kinds[at] & HAS_VALUE || depths[i + 1] > depths[i]) return line;
      if (mark) mark.tail = mark.tail.replace(/:$/, '');
      return line.replace(/:$/, '');
    });
    this.marks = kept.map((at) => this.marks[at]);
    this.kinds = kept.map((at) => this.kinds[at]);
  }

  // frame continues in an embedded document, or leaves a mark for one that lives in another process.
  frame(element, at, depth) {
    const doc = embedded(element);
    if (!doc) {
      this.frames.push({ ref: refOf(element), line: at, depth: depth + 1 });
      return;
    }
    const lines = this.lines.length;
    if (depth + 1 <= this.maxDepth || this.interactive) this.document(doc, depth + 1);
    if (this.lines.length === lines || this.interactive) return;
    if (this.numbered) this.marks[at].tail += ':';
    else this.lines[at] += ':';
  }
}
