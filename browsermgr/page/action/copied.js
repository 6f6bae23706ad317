// Keeps the text that scripts of the page copied last, for keys that paste in this page, and tells it to our scripts,
// which ask by an event whose name the page does not know. It runs in the page's own world, since calls of the
// Clipboard API are seen nowhere else, before the page's scripts, and takes what it uses before they can replace it.
((NAME, MOST, ON_SCREEN) => {
  const { CustomEvent, Reflect: { apply }, Date: { now }, dispatchEvent, addEventListener, removeEventListener } = window;
  const answer = `${NAME}!`;
  let kept = ''; // when it was copied, and the text unless that is too long
  const keep = (text) => {
    if (text) kept = `${now()} ${text.length > MOST ? '' : text}`;
  };
  addEventListener(NAME, () => {
    if (kept) dispatchEvent(new CustomEvent(answer, { detail: kept }));
  });

  const selected = () => {
    let { activeElement: field } = document;
    while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement;
    const { selectionStart: from, selectionEnd: to, value, type } = field ?? {};
    return from != null && from !== to && type !== 'password' ? value.slice(from, to) : `${getSelection()}`;
  };
  const handled = (e) => e.isTrusted && e.defaultPrevented && keep(e.clipboardData.getData('text/plain'));
  const copies = (e) => {
    if (!e.isTrusted) return;
    keep(selected());
    // What the page's own handlers put there is known after the last of them; on the target, too, as they may stop the
    // event there.
    for (const last of [e.composedPath()[0], window]) {
      apply(removeEventListener, last, [e.type, handled]);
      apply(addEventListener, last, [e.type, handled]);
    }
  };
  for (const type of ['copy', 'cut']) addEventListener(type, copies, true);

  const textOf = async (items) => {
    for (const item of items) {
      // A character has at most three bytes.
      if (item.types.includes('text/plain')) return (await item.getType('text/plain')).slice(0, 3 * (MOST + 1)).text();
    }
  };
  const wrap = (method, read) => {
    Clipboard.prototype[method] = new Proxy(Clipboard.prototype[method], {
      async apply(write, self, given) {
        // A page may not write to the desktop's clipboard, and need not know.
        if (!ON_SCREEN || !navigator.userActivation.isActive) await apply(write, self, given);
        keep(await read(given[0]));
      },
    });
  };
  if (window.Clipboard) {
    wrap('writeText', (text) => `${text}`);
    wrap('write', textOf);
  }
})
