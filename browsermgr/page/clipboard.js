// Keeps scripts of a page from the desktop's clipboard, before they can listen themselves. What a person's own keys or menu paste is let
// through, and what their keys copy.
(() => {
  const copies = (e) => e.type === 'keydown' && (e.ctrlKey || e.metaKey ? /^(c|x|insert)$/i : e.shiftKey ? /^delete$/i : /^$/).test(e.key);
  let cause = null; // the input whose handlers run
  for (const type of ['keydown', 'mousedown', 'mouseup', 'auxclick']) {
    addEventListener(type, (e) => {
      if (!e.isTrusted) return;
      cause = e;
      setTimeout(() => cause === e && (cause = null));
    }, true);
  }
  const stop = (e) => {
    if (!e.isTrusted) return;
    const middle = cause instanceof MouseEvent && cause.button === 1;
    if (e.type === 'paste' ? !middle : cause && copies(cause)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  for (const type of ['copy', 'cut', 'paste']) addEventListener(type, stop, true);
})();
