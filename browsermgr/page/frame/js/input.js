// Setting what controls hold. Values go through the elements' own setters: this world's wrappers are untouched by the page.

const TEXT_INPUT = /^(text|search|email|url|tel|password|number|date|time|datetime-local|month|week|color|range)$/;

// editable finds what takes the text: the element, the control of a label, or the one field inside it.
function editable(element) {
  if (element.localName === 'label' && element.control) element = element.control;
  if (element.localName === 'input' || element.localName === 'textarea' || element.isContentEditable) return element;
  if (element.localName !== 'select') {
    const inner = element.querySelectorAll('input:not([type=hidden]), textarea, [contenteditable=""], [contenteditable=true]');
    if (inner.length === 1) return inner[0];
  }
  return element;
}

// field waits until the element can take input from a person and brings it into view.
async function field(a, pick = (e) => e) {
  const deadline = performance.now() + a.timeout;
  for (;;) {
    const found = a.ref ? byRef(a.ref) : bySelector(a.selector);
    let reason = { code: 'missing' };
    if (found) {
      const element = pick(found);
      reason = { code: '', ...describe(element) };
      if (!shown(element) && !(found !== element && shown(found)) && !shownLabel(element)) reason.code = 'hidden';
      else if (isDisabled(element)) reason.code = 'disabled';
      else if (element.readOnly === true) reason.code = 'readonly';
      if (!reason.code) {
        const b = element.getBoundingClientRect();
        if (b.top < 0 || b.left < 0 || b.bottom > innerHeight || b.right > innerWidth) {
          element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
        }
        return element;
      }
    }
    if (idle || performance.now() >= deadline) throw new Failure(reason.code, reason);
    await frame();
  }
}

const announce = (element, data) => {
  element.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
};

function setValue(element, text) {
  const kind = element.localName === 'textarea' ? 'textarea' : element.type;
  if (kind !== 'textarea' && !TEXT_INPUT.test(kind)) throw new Failure('nottext', { ...describe(element), kind });
  element.focus({ preventScroll: true });
  const before = element.value;
  element.value = text;
  if (kind !== 'textarea' && text !== '' && element.value === '') {
    element.value = before;
    throw new Failure('refused', { ...describe(element), kind, text: isSecret(element) ? MASK : text });
  }
  announce(element, text);
  return before;
}

FUNCTIONS.type = async (a) => {
  const element = await field(a, editable);
  if (element.localName === 'input' || element.localName === 'textarea') {
    const before = setValue(element, a.text);
    await turn();
    if (before !== a.text && element.value === before) throw new Failure('reverted', describe(element));
    return { insert: false };
  }
  if (!element.isContentEditable) {
    throw new Failure('nottext', { ...describe(element), kind: element.localName });
  }
  element.focus({ preventScroll: true });
  element.ownerDocument.getSelection().selectAllChildren(element);
  return { insert: true };
};

// focus puts the caret at the end of a field that is typed into key by key.
FUNCTIONS.focus = async (a) => {
  const element = await field(a, editable);
  element.focus({ preventScroll: true });
  if (a.text && element.localName !== 'input' && element.localName !== 'textarea' && !element.isContentEditable) {
    throw new Failure('nottext', { ...describe(element), kind: element.localName });
  }
  if (a.text && element.isContentEditable) { // a click leaves the caret amid its lines
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  }
  return true;
};

FUNCTIONS.check = async (a) => {
  const element = await field(a, (e) => (e.localName === 'label' && e.control ? e.control : e));
  const checked = element.localName === 'input' ? element.checked : element.getAttribute('aria-checked') === 'true';
  if (element.localName === 'input' ? !/^(checkbox|radio)$/.test(element.type) : !element.hasAttribute('aria-checked')) {
    throw new Failure('notcheck', describe(element));
  }
  if (checked !== a.checked && !a.checked && element.type === 'radio') throw new Failure('radio', describe(element));
  return { click: checked !== a.checked };
};

FUNCTIONS.select = async (a) => {
  const element = await field(a, (e) => (e.localName === 'label' && e.control ? e.control : e));
  if (element.localName !== 'select') throw new Failure('notselect', describe(element));
  const options = Array.from(element.options);
  const match = (wanted) => options.find((o) => o.value === wanted) ??
    options.find((o) => squeeze(o.label) === squeeze(wanted) || squeeze(o.text) === squeeze(wanted));
  const chosen = a.values.map((wanted) => {
    const option = match(wanted);
    if (!option) throw new Failure('nooption', { ...describe(element), text: wanted, options: options.slice(0, 20).map((o) => clip(squeeze(o.label), 60)) });
    if (isDisabled(option)) throw new Failure('disabled', describe(option));
    return option;
  });
  if (chosen.length > 1 && !element.multiple) throw new Failure('single', describe(element));
  element.focus({ preventScroll: true });
  if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
  else chosen[0].selected = true;
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
  if (isPoint(element) || getComputedStyle(element).opacity === '0') closeWidget(element);
  await turn();
  return true;
};

// closeWidget tells the widget that stands for a hidden list that a person has gone on elsewhere: one that was opened stays over
// the page otherwise.
function closeWidget(element) {
  const elsewhere = element.ownerDocument.documentElement;
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
    const init = { bubbles: true, composed: true, cancelable: true };
    elsewhere.dispatchEvent(type.startsWith('pointer') ? new PointerEvent(type, init) : new MouseEvent(type, init));
  }
}

// rest resolves when nothing scrolls any more: two frames with the same positions.
FUNCTIONS.rest = async (a) => {
  const scroller = a.ref || a.selector ? locate(a) : null; // it may have been scrolled away
  const position = () => {
    let key = `${scrollX},${scrollY}`;
    for (let n = scroller; n; n = parentOf(n)) if (n.scrollTop !== undefined) key += `,${n.scrollLeft},${n.scrollTop}`;
    return key;
  };
  const deadline = performance.now() + 600;
  let last = position();
  for (let same = 0; same < 2 && !idle && performance.now() < deadline;) {
    await frame();
    const now = position();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return true;
};
