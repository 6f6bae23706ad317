// Does what keys of the clipboard stand for, in two calls: before the keys are sent it has the page's answer to them noted, and afterwards
// it copies, cuts or makes ready to paste, unless the page has kept the keys to itself.
(_, a) => {
  let active = document;
  for (let e = document.activeElement; e; e = e.shadowRoot?.activeElement ?? (e.contentDocument ?? null)?.activeElement) active = e;
  const doc = active.ownerDocument ?? document;
  const view = doc.defaultView;
  // newest is what scripts of this page copied last: in documents of the same origin, around this one and in it.
  const newest = () => {
    let copied = null;
    const take = ({ detail }) => {
      const at = parseInt(detail);
      if (!(at < copied?.at)) copied = { at, text: detail.slice(`${at} `.length) };
    };
    const ask = (w) => {
      if (!opens(w)) return;
      w.addEventListener(`${a.ask}!`, take);
      w.dispatchEvent(new CustomEvent(a.ask));
      w.removeEventListener(`${a.ask}!`, take);
      for (let i = 0; i < w.length; i++) ask(w[i]);
    };
    let around = view;
    while (around.parent !== around && opens(around.parent)) around = around.parent;
    ask(around);
    return { copied, long: copied?.text === '' || copied?.text.length > a.most };
  };
  const opens = (w) => {
    try {
      return w.document !== null;
    } catch {
      return false; // of another origin
    }
  };

  if (!a.sent) {
    globalThis.clankChord?.end.abort();
    const chord = (globalThis.clankChord = { key: null, end: new AbortController() });
    view.addEventListener('keydown', (e) => (chord.key = e), { capture: true, signal: chord.end.signal });
    return a.edit === 'paste' ? newest() : {};
  }
  const chord = globalThis.clankChord;
  chord?.end.abort();
  if (!chord?.key || chord.key.defaultPrevented) return {};

  const isField = active.matches?.('input, textarea') ?? false;
  const hides = isField && (active.type === 'password' || view.getComputedStyle(active).webkitTextSecurity !== 'none');
  const writable = isField ? !active.disabled && !active.readOnly : active.isContentEditable || doc.designMode === 'on';
  const data = new DataTransfer();
  // tell has the page's own handlers do what they do when a person copies or pastes.
  const tell = () => {
    const event = new ClipboardEvent(a.edit, { clipboardData: data, bubbles: true, cancelable: true, composed: true });
    return (active === doc ? doc.body ?? doc.documentElement : active).dispatchEvent(event);
  };
  if (a.edit === 'paste') {
    data.setData('text/plain', a.text);
    return { insert: tell() && writable };
  }
  const selection = doc.getSelection();
  const inField = isField && (selection?.isCollapsed ?? true); // the focus may be elsewhere than what is selected
  if (inField && hides) return {};
  const untouched = tell();
  let text = data.getData('text/plain');
  if (untouched) {
    const { selectionStart: from, selectionEnd: to } = inField ? active : {};
    text = from != null ? active.value.slice(from, to) : selection?.toString() ?? '';
  }
  if (text.length > a.most) return { long: true };
  if (!text) return {};
  if (untouched && a.edit === 'cut' && writable) doc.execCommand('delete');
  return { copied: { text, at: Date.now() } };
}
