// What a page holds that its address does not bring back. It runs in our world of a document, and reaches the frames and
// shadow trees that are open to that. With `saved` it gives a page what was taken of an earlier one, within
// `limit` ms from when it has loaded, and within `longest` ms.
async ([], { saved, limit, longest }) => {
  const contentOf = (e) => {
    try {
      return e.matches('iframe, frame') ? e.contentDocument : null;
    } catch {
      return null;
    }
  };
  function* elements(root) {
    for (const e of root.querySelectorAll('*')) {
      yield e;
      const inner = e.shadowRoot ?? contentOf(e);
      if (inner) yield* elements(inner);
    }
  }

  // A place names an element: for each tree around it the nearest id that is unique, the way down from there, and a tag.
  const byId = (root, id) => {
    const all = id ? root.querySelectorAll('#' + CSS.escape(id)) : [];
    return all.length === 1 ? all[0] : null;
  };
  const placeOf = (e) => {
    const steps = [];
    for (let n = e; n; ) {
      const root = n.getRootNode();
      const step = { id: '', path: [], tag: n.localName };
      for (let at = n; at !== root; at = at.parentNode) {
        if (byId(root, at.id)) {
          step.id = at.id;
          break;
        }
        step.path.unshift([...at.parentNode.children].indexOf(at));
      }
      steps.unshift(step);
      n = root === document ? null : root.host ?? root.defaultView?.frameElement;
    }
    return steps;
  };
  const find = (place) => {
    let e = null;
    for (const { id, path, tag } of place) {
      const root = e ? e.shadowRoot ?? contentOf(e) : document;
      if (!root) return null;
      e = id ? byId(root, id) : root;
      for (const i of path) e = e?.children[i];
      if (e?.localName !== tag) return null;
    }
    return e;
  };

  const ticked = (e) => e.matches('input[type=checkbox], input[type=radio]');
  const untyped = 'input:is([type=hidden], [type=button], [type=submit], [type=reset], [type=image], [type=file])';
  const nameOf = (e) => (e.labels?.[0]?.textContent || e.ariaLabel || e.placeholder || e.name || e.id || e.localName).trim().replace(/\s+/g, ' ').slice(0, 40);
  const isSecret = (e) =>
    e.type === 'password' || /\b(one-time-code|current-password|new-password|cc-[a-z-]+)\b/i.test(e.autocomplete) ||
    getComputedStyle(e).webkitTextSecurity !== 'none';
  // isChanged says that somebody has written into a field: a copy of it does not follow its attribute any more.
  const isChanged = (e) => {
    const copy = e.cloneNode(true);
    if (ticked(e)) {
      copy.defaultChecked = !e.defaultChecked;
      return e.checked !== e.defaultChecked || copy.checked === e.checked;
    }
    copy.defaultValue = e.defaultValue + '1';
    return e.value !== e.defaultValue || copy.value === e.value;
  };
  const chosen = (e) => [...e.options].map((o, i) => (o.selected ? [i, o.value] : null)).filter(Boolean);
  const isPlain = (e) => [...e.querySelectorAll('*')].every((n) => n.matches('br, div, p, span'));

  // focused returns the element that has the focus, in whatever frame or shadow tree; null for none.
  const focused = () => {
    let e = document.activeElement;
    for (let inner = e; inner; inner = e.shadowRoot?.activeElement ?? contentOf(e)?.activeElement) e = inner;
    return e?.matches('body') ? null : e;
  };

  const take = () => {
    const page = { url: location.href, fields: [], scrolled: [], unsaved: [] };
    for (const e of elements(document)) {
      if (e.scrollTop || e.scrollLeft) page.scrolled.push({ place: placeOf(e), x: e.scrollLeft, y: e.scrollTop });
      if (e.matches('input[type=file]') && e.files.length) page.unsaved.push('a file was chosen');
      if (e.matches('video, audio') && !e.paused && !e.ended) page.unsaved.push('it plays');
      if (e.isContentEditable && !e.parentElement?.isContentEditable && e.innerText.trim()) {
        page.unsaved.push('a text was written');
        if (isPlain(e)) page.fields.push({ place: placeOf(e), name: nameOf(e), text: e.innerText });
      }
      if (!e.matches('input, textarea, select') || e.matches(untyped)) continue;
      const field = { place: placeOf(e), name: nameOf(e) };
      if (e.localName === 'select') {
        if ([...e.options].some((o) => o.selected !== o.defaultSelected)) page.fields.push({ ...field, chosen: chosen(e) });
      } else if (!isChanged(e)) {
        continue;
      } else if (ticked(e)) {
        if (e.checked || e.type === 'checkbox') page.fields.push({ ...field, checked: e.checked });
      } else if (!isSecret(e)) {
        page.fields.push({ ...field, value: e.value });
      } else if (e.value) {
        page.unsaved.push('a secret was typed');
      }
    }
    // A page that would ask before it is left says so itself.
    const leaving = document.createEvent('BeforeUnloadEvent');
    leaving.initEvent('beforeunload', false, true);
    dispatchEvent(leaving);
    if (leaving.defaultPrevented || leaving.returnValue) page.unsaved.push('it asks before it is left');
    if (parent === self) {
      const e = focused();
      if (e) page.focus = placeOf(e);
      page.storage = {};
      try {
        page.storage = { ...sessionStorage };
        page.state = JSON.stringify(history.state);
      } catch {
        // a document without storage, or a state that is no JSON
      }
    }
    return page;
  };

  const tell = (e, ...kinds) => kinds.forEach((kind) => e.dispatchEvent(
    kind === 'input' ? new InputEvent(kind, { bubbles: true, composed: true }) : new Event(kind, { bubbles: true }),
  ));
  // give writes into a field as its user would have. It returns true if the field held that already.
  const give = (e, f) => {
    if ('checked' in f) {
      if (e.checked === f.checked) return true;
      e.click();
      if (e.checked !== f.checked) e.checked = f.checked; // it is disabled
    } else if ('chosen' in f) {
      const wanted = (o, i) => f.chosen.some(([at, value]) => value === o.value && (at === i || [...e.options].filter((p) => p.value === value).length === 1));
      if ([...e.options].every((o, i) => o.selected === wanted(o, i))) return true;
      if (![...e.options].some(wanted)) return !f.chosen.length; // they are still to come
      [...e.options].forEach((o, i) => (o.selected = wanted(o, i)));
      tell(e, 'input', 'change');
    } else if ('text' in f) {
      if (e.innerText.trim()) return true;
      e.focus({ preventScroll: true });
      document.execCommand('insertText', false, f.text);
    } else {
      if (e.value === f.value) return true;
      e.value = f.value;
      tell(e, 'input', 'change');
    }
    return false;
  };

  const documentAt = (url) => {
    const { origin, pathname } = new URL(url);
    return origin + pathname;
  };
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const giveAll = async () => {
    if (documentAt(location.href) !== documentAt(saved.url)) return { elsewhere: true, missing: [] };
    const end = performance.now() + longest;
    let until = 0;
    const isOver = () => {
      const now = performance.now();
      if (!until || document.readyState !== 'complete') until = now + limit;
      return now > Math.min(until, end);
    };
    const missing = new Map(saved.fields.map((f) => [f, 0])); // how often it was written
    // Scripts may make fields late, and write into them once more: a field is done when it has kept what it was given.
    for (;;) {
      for (const [f, tries] of missing) {
        const e = find(f.place);
        if (e && give(e, f)) missing.delete(f);
        else if (e && tries < 3) missing.set(f, tries + 1);
      }
      if (!missing.size || isOver()) break;
      await pause(50);
    }
    for (const { place, x, y } of saved.scrolled) {
      for (;;) {
        const e = find(place);
        e?.scrollTo({ left: x, top: y, behavior: 'instant' });
        if (e && Math.abs(e.scrollTop - y) < 2 && Math.abs(e.scrollLeft - x) < 2) break;
        if (isOver()) break;
        await pause(50);
      }
    }
    if (saved.focus) find(saved.focus)?.focus({ preventScroll: true });
    return { missing: [...missing.keys()].map((f) => f.name) };
  };
  return saved ? giveAll() : take();
}
