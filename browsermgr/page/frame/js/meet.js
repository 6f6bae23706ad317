// What the mouse or the keyboard meets, in words.

// innermost goes from the document into shadow roots and documents of this process, to what is at a point of the viewport,
// or without one to what has the focus.
function innermost(point) {
  let x = (point?.x ?? 0) + (visualViewport?.offsetLeft ?? 0); // what is pinched shows a part of the viewport
  let y = (point?.y ?? 0) + (visualViewport?.offsetTop ?? 0);
  let found = null;
  for (let root = document, n = 0; root && n < 64; n++) {
    const element = point ? root.elementFromPoint(x, y) : root.activeElement;
    if (!element || element === found) break;
    found = element;
    if (isFrame(element)) {
      ({ x, y } = placed(element).inverse().transformPoint({ x, y }));
      root = embedded(element);
    } else {
      root = anyShadow(element);
    }
  }
  return found;
}

// operated is the control that input to an element is for: the element itself, what holds it, or what it is the label of.
function operated(element) {
  for (let e = element; e; e = parentOf(e)) {
    if (e.nodeType !== Node.ELEMENT_NODE) continue;
    if (INTERACTIVE.has(roleOf(e, e.localName))) return e;
    if (e.localName === 'label' && e.control) return e.control;
  }
  return element;
}

// meet tells role and name of what input reaches, and whether what it holds is not to be told. The name of what is no control
// is its text, if that is short.
FUNCTIONS.meet = (a) => {
  resetNames();
  const hit = a.ref ? byRef(a.ref) : innermost(a.point);
  if (!hit || /^(html|body)$/.test(hit.localName)) return { role: '', name: '', secret: false };
  const element = operated(hit);
  const role = roleOf(element, element.localName);
  let name = nameOf(element, role);
  if (!name && role === 'generic' && element.localName !== 'canvas') {
    const text = squeeze(element.innerText ?? '');
    if (text.length <= 80) name = text;
  }
  return { role, name, secret: isSecret(element) };
};
