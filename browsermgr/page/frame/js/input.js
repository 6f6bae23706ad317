// Changing what controls hold. The page is to get what it gets from a person, trusted events above all: the scripts here prepare
// a field, the browser sends the input, and the script that waits for it (settled) sees what came of it.

// Kinds of fields that a person writes in, and those that are set: what keys do in the latter depends on the language of the
// browser (dates) or on the page (sliders), so they get events of ours, as from playwright's fill.
const WRITTEN = /^(text|search|email|url|tel|password|number)$/;
const SET = /^(date|time|datetime-local|month|week|color|range)$/;

// isCell says that an element is a cell with nothing to act on in it, which may open a field when it is used.
const isCell = (element) => /^(grid)?cell$/.test(roleOf(element, element.localName)) && !element.querySelector(CONTROLS);

// opened is the field that has the focus in a cell, or over it, as some grids open one.
function opened(cell) {
  const active = deepActive(cell.ownerDocument);
  if (!active?.matches('input, textarea, select, [contenteditable]') || !shown(active)) return null;
  const box = cell.getBoundingClientRect();
  const hit = () => deepestAt(cell.ownerDocument, box.left + box.width / 2, box.top + box.height / 2);
  return within(active, cell) || hit() === active ? active : null;
}

// opened answers whether a cell has opened a field, once it has or does not come to that.
FUNCTIONS.opened = async (a) => {
  const cell = locate(a);
  await until(() => !cell || opened(cell));
  return cell !== null && opened(cell) !== null;
};

// editable finds what takes the text: the element, the control of a label, or the one field inside it.
function editable(element) {
  if (element.localName === 'label' && element.control) element = element.control;
  if (/^(grid)?cell$/.test(roleOf(element, element.localName))) {
    const open = opened(element);
    if (open) return open;
  }
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
      if (!shown(element) && !element.editContext && !(found !== element && shown(found)) && !shownLabel(element)) reason.code = 'hidden';
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

// edit is what is to come of the input that goes to a field next: taken is called when it has arrived, settled when what it set
// off has run.
let edit = null;

const announce = (element, event) => {
  element.dispatchEvent(event);
  element.dispatchEvent(new Event('change', { bubbles: true }));
};

// takes says whether a field of this kind can hold the text. One that the page does not see is asked.
function takes(element, text) {
  if (element.localName !== 'input' || text === '') return true;
  const probe = document.createElement('input');
  probe.type = element.type;
  probe.value = text;
  return probe.value !== '';
}

// focusOn gives an element the focus and reports whether the page has left it there.
async function focusOn(element) {
  const has = () => element.getRootNode().activeElement === element;
  if (has()) return true;
  element.focus({ preventScroll: true });
  if (!idle && has() && element.value) await new Promise((resolve) => setTimeout(resolve, 0)); // masks then place the caret
  return has();
}

// kept throws if the page has undone a change, or if not all of the text had room.
function kept(element, before, text) {
  const now = element.value;
  if (element.type === 'range' && text !== '' && Number(now) !== Number(text)) {
    const { min, max, step } = element;
    throw new Failure('steps', { ...describe(element), text: `takes ${min || 0} to ${max || 100} in steps of ${Number(step) || 1}, and is now ${now}` });
  }
  if (now === before && text !== before) throw new Failure('reverted', describe(element));
  const room = element.maxLength;
  if (room >= 0 && text.length > room && now === text.slice(0, room)) throw new Failure('cut', { ...describe(element), text: `${room}` });
}

// keepsPopup says that a field has suggestions, which close when it is left.
const keepsPopup = (element) => element.matches('[role=combobox], [role=searchbox], [type=search], [list], [aria-autocomplete], [aria-haspopup], [aria-expanded], [aria-controls]');

// type has a field ready to be typed into: what it holds is selected. The page hears of a change as it does from a person: not
// before the focus leaves the field, or with Enter. What fills in a form (a.leave) leaves the field for a moment, since forms
// check what is entered then; the focus comes back for a key that may follow.
FUNCTIONS.type = async (a) => {
  const element = await field(a, editable);
  if (element.localName !== 'input' && element.localName !== 'textarea') {
    if (!element.isContentEditable) {
      if (element.editContext && await focusOn(element)) {
        edit = {};
        return { insert: true, all: true };
      }
      if (isStepped(element)) return { steps: true };
      if (a.cell && isCell(element)) return { cell: true };
      throw new Failure('nottext', { ...describe(element), kind: element.localName });
    }
    element.focus({ preventScroll: true });
    element.ownerDocument.getSelection().selectAllChildren(element);
    edit = {};
    return { insert: true };
  }
  const kind = element.localName === 'textarea' ? 'text' : element.type;
  if (!WRITTEN.test(kind) && !SET.test(kind)) throw new Failure('nottext', { ...describe(element), kind });
  if (!takes(element, a.text)) throw new Failure('refused', { ...describe(element), kind, text: isSecret(element) ? MASK : a.text });
  const had = element.getRootNode().activeElement === element;
  const focused = await focusOn(element);
  if (!had && element.matches('[aria-haspopup=dialog]')) await rendered().then(turn); // a picker that opens may put a value of its own there
  const before = element.value;
  if (focused && !SET.test(kind)) {
    element.select();
    edit = {
      taken: () => {
        if (!a.leave || keepsPopup(element) || element.getRootNode().activeElement !== element) return;
        element.blur();
        if (element.isConnected) element.focus({ preventScroll: true });
      },
      settled: () => kept(element, before, a.text),
    };
    return { insert: true };
  }
  element.value = a.text;
  announce(element, new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data: a.text }));
  await turn();
  kept(element, before, a.text);
  return { insert: false };
};

// isStepped says that keys set the value of an element, which it tells as a number.
const isStepped = (element) => element.matches('[aria-valuenow]') && /^(slider|spinbutton|scrollbar|separator)$/.test(roleOf(element, element.localName));

// range gives such an element the focus and answers its value and limits, after keys (a.moved) once they have had their effect.
FUNCTIONS.range = async (a) => {
  const element = await field(a);
  if (!await focusOn(element)) throw new Failure('nottext', { ...describe(element), kind: element.localName });
  const number = (name) => (element.hasAttribute(name) ? Number(element.getAttribute(name)) : null);
  const now = () => number('aria-valuenow');
  if (a.moved) {
    const { from, to } = a.moved;
    const there = () => (from === to ? now() !== from : Math.abs(now() - to) < Math.abs(to - from) / 1e6);
    await until(there);
  }
  return { ...describe(element), now: now(), min: number('aria-valuemin'), max: number('aria-valuemax') };
};

// focus puts the caret at the end of a field that is typed into key by key.
FUNCTIONS.focus = async (a) => {
  const element = await field(a, editable);
  element.focus({ preventScroll: true });
  if (a.text && element.localName !== 'input' && element.localName !== 'textarea' && !element.isContentEditable && !element.editContext) {
    if (a.cell && isCell(element)) return { cell: true };
    throw new Failure('nottext', { ...describe(element), kind: element.localName });
  }
  if (a.text && element.isContentEditable) { // a click leaves the caret amid its lines
    element.ownerDocument.getSelection().selectAllChildren(element);
    element.ownerDocument.getSelection().collapseToEnd();
  }
  return {};
};

const labelled = (e) => (e.localName === 'label' && e.control ? e.control : e);
const isChecked = (e) => (e.localName === 'input' ? e.checked : e.getAttribute('aria-checked') === 'true');

FUNCTIONS.check = async (a) => {
  const element = await field(a, labelled);
  const checked = isChecked(element);
  if (element.localName === 'input' ? !/^(checkbox|radio)$/.test(element.type) : !element.hasAttribute('aria-checked')) {
    throw new Failure('notcheck', describe(element));
  }
  if (checked !== a.checked && !a.checked && element.type === 'radio') throw new Failure('radio', describe(element));
  return { click: checked !== a.checked };
};

// keptCheck says after the click whether it has done what it was for, unless the page has put something else in its place.
FUNCTIONS.keptCheck = async (a) => {
  const element = labelled(byRef(a.ref));
  const done = () => isChecked(element) === a.checked || !attached(element);
  await until(done);
  if (!done()) throw new Failure('unchecked', { ...describe(element), text: a.checked ? 'unchecked' : 'checked' });
  return true;
};

// inWords is a text without the pictures that people leave out.
const inWords = (text) => squeeze(text.replace(/[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\u200d\ufe0f]/gu, ' '));

// wantedOptions are the options of a list that are asked for, by value, name or text. label tells of each what it may be called.
function wantedOptions(element, wanted, options, value, labels) {
  const match = (name) => options.find((o) => value(o) === name) ??
    options.find((o) => labels(o).some((label) => squeeze(label) === squeeze(name))) ??
    options.find((o) => inWords(name) && labels(o).some((label) => inWords(label) === inWords(name)));
  return wanted.map((name) => {
    const option = match(name);
    const known = () => options.slice(0, 20).map((o) => clip(squeeze(labels(o)[0]), 60));
    if (!option) throw new Failure('nooption', { ...describe(element), text: name, options: known() });
    if (isDisabled(option)) throw new Failure('disabled', describe(option));
    return option;
  });
}

FUNCTIONS.select = async (a) => {
  const element = await field(a, (found) => {
    const list = found.localName === 'label' && found.control ? found.control : found;
    if (list.localName !== 'select' && roleOf(list, list.localName) !== 'listbox') throw new Failure('notselect', describe(list));
    return list;
  });
  if (element.localName !== 'select') return pick(element, a);
  const options = Array.from(element.options);
  const chosen = wantedOptions(element, a.values, options, (o) => o.value, (o) => [o.label, o.text]);
  if (chosen.length > 1 && !element.multiple) throw new Failure('single', describe(element));
  const hidden = isPoint(element) || getComputedStyle(element).opacity === '0';
  const set = (wanted) => {
    for (const option of options) option.selected = wanted.includes(option);
    if (wanted.length === 0) element.selectedIndex = -1;
  };
  edit = {
    taken: () => {
      if (options.some((option) => option.selected !== chosen.includes(option))) {
        set(chosen);
        announce(element, new Event('input', { bubbles: true, composed: true }));
      }
      if (hidden) closeWidget(element);
    },
  };
  const focused = await focusOn(element);
  const last = focused && !idle && lastStep(element, options, chosen, hidden);
  if (last) {
    set(last.before);
    return { key: last.key, option: last.option && refOf(last.option), modifiers: element.multiple ? ['Control'] : [] };
  }
  set(options.filter((option) => !chosen.includes(option))); // so that it is told of also where nothing changes
  edit.taken();
  await turn();
  return {};
};

// optionsOf are the options in a list of scripts.
const optionsOf = (list) => Array.from(flatChildren(list)).flatMap((node) => {
  if (node.nodeType !== Node.ELEMENT_NODE) return [];
  return roleOf(node, node.localName) === 'option' ? [node] : optionsOf(node);
});

const PICKED = ['aria-selected', 'aria-checked'];
const isPicked = (option) => PICKED.some((name) => option.getAttribute(name) === 'true');

// picking is the list of scripts whose options are clicked, and those that are wanted.
let picking = null;

// pick begins to select in such a list. Where a field has opened it, what it marks may be what the keys are on.
function pick(list, a) {
  resetNames();
  const options = optionsOf(list);
  const labels = (o) => [nameOf(o, 'option'), o.textContent];
  const wanted = wantedOptions(list, a.values, options, (o) => o.dataset.value ?? o.getAttribute('value'), labels);
  const many = list.getAttribute('aria-multiselectable') === 'true';
  if (!many && wanted.length !== 1) throw new Failure('single', describe(list));
  picking = { list, wanted, many };
  const opener = list.id && list.getRootNode().querySelector(`[aria-controls~="${CSS.escape(list.id)}"], [aria-owns~="${CSS.escape(list.id)}"]`);
  return !many && opener ? { option: refOf(wanted[0]), left: 1 } : nextPick();
}

// nextPick is the next option to click and how many are left.
function nextPick() {
  const { list, wanted, many } = picking;
  const left = optionsOf(list).filter((o) => (wanted.includes(o) ? !isPicked(o) : many && isPicked(o)));
  return left.length ? { option: refOf(left[0]), left: left.length } : { left: 0 };
}

// picked answers the same after a click on an option, once that has changed or does not come to that. A list that closes is done
// with one option, and so is one that does not mark what is selected.
FUNCTIONS.picked = async (a) => {
  const { list, wanted, many } = picking;
  const option = locate(a);
  const gone = () => !option || !attached(list) || !shown(list);
  const done = () => gone() || isPicked(option) === wanted.includes(option);
  await until(done);
  if (!many && (gone() || !optionsOf(list).some((o) => PICKED.some((name) => o.hasAttribute(name))))) return { left: 0 };
  if (gone()) throw new Failure('closed', describe(list));
  return nextPick();
};

// lastStep finds the one key or click of a person by which a list comes from options that are selected before it to those that
// are chosen: with it the page gets events that it can trust, and only one of each. There is none where arrows open the list
// (macOS, appearance: base-select), and for lists that widgets hide.
function lastStep(element, options, chosen, hidden) {
  if (element.multiple || element.size > 1) {
    if (hidden || !shown(element)) return null;
    return { option: chosen.at(-1), before: chosen.slice(0, -1) };
  }
  if (/^Mac/.test(navigator.platform) || getComputedStyle(element).appearance === 'base-select') return null;
  const open = options.filter((o) => !isDisabled(o) && getComputedStyle(o).display !== 'none');
  const at = open.indexOf(chosen[0]);
  return at < 0 ? null : { key: 'ArrowDown', before: open.slice(Math.max(at - 1, 0), at) };
}

// chosen ends a selection that a click has made.
FUNCTIONS.chosen = () => {
  edit?.taken();
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
    await rendered();
    const now = position();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return true;
};
