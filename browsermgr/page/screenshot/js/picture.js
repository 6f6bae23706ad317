// Helpers for pictures, called in the isolated world of a frame. Each call gets elements and an argument.
(elements, a) => {
  const edges = (b) => ({ left: b.left, top: b.top, right: b.right, bottom: b.bottom });
  const cut = (r, by) => ({
    left: Math.max(r.left, by.left), top: Math.max(r.top, by.top), right: Math.min(r.right, by.right), bottom: Math.min(r.bottom, by.bottom),
  });
  const parentOf = (n) => n.assignedSlot ?? n.parentNode ?? n.host ?? null;

  // content is where a frame element shows its document: the document's x is at left + scale * x.
  const content = (owner) => {
    const box = owner.getBoundingClientRect();
    const style = owner.ownerDocument.defaultView.getComputedStyle(owner);
    const scale = owner.offsetWidth ? box.width / owner.offsetWidth : 1;
    return {
      left: box.left + scale * (owner.clientLeft + parseFloat(style.paddingLeft)),
      top: box.top + scale * (owner.clientTop + parseFloat(style.paddingTop)),
      scale,
    };
  };
  const up = (owner, r) => {
    const c = content(owner);
    return { left: c.left + c.scale * r.left, top: c.top + c.scale * r.top, right: c.left + c.scale * r.right, bottom: c.top + c.scale * r.bottom };
  };
  const shown = (element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return false;
    for (const box of element.getClientRects()) if (box.width > 0 && box.height > 0) return true;
    return false;
  };
  const viewOf = (doc) => ({ left: 0, top: 0, right: doc.defaultView.innerWidth, bottom: doc.defaultView.innerHeight });
  const clips = (n) => {
    if (n.nodeType !== Node.ELEMENT_NODE) return false;
    const style = n.ownerDocument.defaultView.getComputedStyle(n);
    return style.overflowX !== 'visible' || style.overflowY !== 'visible';
  };
  // inside is the part of an element in which its children show.
  const inside = (n) => {
    const b = n.getBoundingClientRect();
    const s = n.offsetWidth ? b.width / n.offsetWidth : 1;
    const left = b.left + s * n.clientLeft;
    const top = b.top + s * n.clientTop;
    return { left, top, right: left + s * n.clientWidth, bottom: top + s * n.clientHeight };
  };

  // place is the box of an element in the viewport of the local root, and the part of it that nothing around it hides,
  // apart from that viewport itself where it is the tab's own.
  const place = (element) => {
    if (!element || !element.ownerDocument.defaultView) return null;
    if (!shown(element)) return { left: 0, top: 0, right: 0, bottom: 0, seen: false };
    let box = edges(element.getBoundingClientRect());
    let part = box;
    for (let n = element; ;) {
      const doc = n.ownerDocument;
      for (let p = parentOf(n); p && p !== doc; p = parentOf(p)) {
        if (p !== doc.documentElement && p !== doc.body && clips(p)) part = cut(part, inside(p));
      }
      const view = doc.defaultView;
      if (view === window) {
        if (!a.main) part = cut(part, viewOf(doc));
        break;
      }
      part = cut(part, viewOf(doc));
      n = view.frameElement;
      box = up(n, box);
      part = up(n, part);
    }
    return { ...box, seen: part.right - part.left >= 1 && part.bottom - part.top >= 1, part };
  };

  // nearest is how far to scroll so that from..to shows within low..high, its beginning first.
  const nearest = (from, to, low, high) => (from < low ? from - low : to > high ? Math.min(to - high, from - low) : 0);

  const state = (globalThis.__clankPicture ??= { scrolled: [], sheet: null });
  const does = {
    // page is the geometry of the tab.
    page() {
      const v = window.visualViewport;
      return {
        width: innerWidth, height: innerHeight, x: scrollX, y: scrollY, dpr: devicePixelRatio, scale: v.scale, left: v.pageLeft, top: v.pageTop,
        bars: innerWidth > document.documentElement.clientWidth || innerHeight > document.documentElement.clientHeight,
      };
    },
    places() {
      return elements.map(place);
    },
    // shift is where the document below a frame element begins in the local root's viewport, and its scale.
    shift() {
      if (!elements[0]) return null;
      let c = content(elements[0]);
      for (let view = elements[0].ownerDocument.defaultView; view !== window; view = view.parent) {
        const outer = content(view.frameElement);
        c = { left: outer.left + outer.scale * c.left, top: outer.top + outer.scale * c.top, scale: outer.scale * c.scale };
      }
      return c;
    },
    // reveal scrolls what lies around the element, or around a part of the document below a frame element, until it shows.
    // The tab's own viewport stays where it is. It answers with the box as place does.
    reveal() {
      const element = elements[0];
      if (!element || !element.ownerDocument.defaultView || (!a.part && !shown(element))) return null;
      const owners = [];
      const box = () => owners.reduce((r, o) => up(o, r), a.part ? up(element, a.part) : edges(element.getBoundingClientRect()));
      const scroll = (n, by) => {
        const r = box();
        const left = nearest(r.left, r.right, by.left, by.right);
        const top = nearest(r.top, r.bottom, by.top, by.bottom);
        if (!left && !top) return;
        const before = [n, n.scrollLeft, n.scrollTop];
        n.scrollBy({ left, top, behavior: 'instant' });
        if (n.scrollLeft !== before[1] || n.scrollTop !== before[2]) state.scrolled.push(before);
      };
      for (let n = element; ;) {
        const doc = n.ownerDocument;
        const view = doc.defaultView;
        for (let p = parentOf(n); p && p !== doc; p = parentOf(p)) {
          if (p !== doc.scrollingElement && p !== doc.documentElement && clips(p)) scroll(p, inside(p));
        }
        if ((view !== window || !a.main || a.far) && doc.scrollingElement) scroll(doc.scrollingElement, viewOf(doc));
        if (view === window) break;
        owners.push(view.frameElement);
        n = view.frameElement;
      }
      return box();
    },
    // bars hides the scroll bars of the page while it is drawn larger than its viewport: Chromium does without them then, and
    // would lay the page out anew in between. Leaving them out also makes Chromium put them back afterwards.
    bars() {
      state.sheet = new CSSStyleSheet();
      state.sheet.replaceSync(':root { scrollbar-width: none !important; }');
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, state.sheet];
      return document.documentElement.clientWidth;
    },
    // restore puts back what the others have moved. a is the page as it was, if its own scroll position may have changed.
    restore() {
      if (state.sheet) {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== state.sheet);
        state.sheet = null;
      }
      for (const [n, left, top] of state.scrolled.splice(0).reverse()) n.scrollTo({ left, top, behavior: 'instant' });
      const v = window.visualViewport;
      const far = (p, q) => Math.abs(p - q) > 0.5;
      if (a.before && (far(v.pageLeft, a.before.left) || far(v.pageTop, a.before.top) || far(scrollX, a.before.x) || far(scrollY, a.before.y))) {
        window.scrollTo({ left: a.before.x, top: a.before.y, behavior: 'instant' });
        if (far(v.pageLeft, a.before.left) || far(v.pageTop, a.before.top)) {
          window.scrollTo({ left: a.before.left, top: a.before.top, behavior: 'instant' });
        }
      }
      return true;
    },
    highlight() {
      const element = elements[0];
      if (!element || !shown(element)) return false;
      element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      const look = { outline: '3px solid #FF4500', outlineOffset: '2px' };
      element.animate([look, look], { duration: a.ms });
      return true;
    },
  };
  return does[a.do]();
}
