// The snapshot: where it begins, what goes with it, and what the driver gets.

// owned tells who owns an element by aria-owns; null if nobody does.
function owned(doc) {
  let map = null;
  for (const owner of doc.querySelectorAll('[aria-owns]')) {
    if (CHILDLESS.has(owner.localName) || !reachable(owner)) continue;
    for (const child of referenced(owner, owner.getAttribute('aria-owns'))) {
      if (child.contains(owner) || map?.has(child)) continue;
      map ??= new Map();
      map.set(child, owner);
    }
  }
  return map;
}

// reachable says that nothing around an element hides it from everybody.
function reachable(element) {
  if (!element.checkVisibility()) return false;
  for (let n = element; n; n = parentOf(n)) {
    if (n.nodeType === 1 && (n.getAttribute('aria-hidden') === 'true' || n.hasAttribute('inert'))) return false;
  }
  return true;
}

function deepActive(doc) {
  let active = doc.activeElement;
  if (!active || active === doc.body || isFrame(active)) return null;
  for (let root = anyShadow(active); root?.activeElement; root = anyShadow(active)) active = root.activeElement;
  return active;
}

// linksIn collects links below a root, shadow roots and frames of this process included, until there are so many.
function linksIn(root, found, most = 100) {
  for (const element of root.querySelectorAll('*')) {
    if (found.size >= most) return;
    const tag = element.localName;
    if ((tag === 'a' || tag === 'area') && element.hasAttribute('href')) addLink(element, found);
    const inner = anyShadow(element);
    if (inner) linksIn(inner, found, most);
    if (isFrame(element) && embedded(element) && reachable(element)) linksIn(embedded(element), found, most);
  }
}

function addLink(element, found) {
  const url = String(element.href?.baseVal ?? element.href);
  if (url && !found.has(url) && reachable(element)) found.set(url, clip(nameOf(element, 'link'), 120));
}

// windowIn is the window of this origin that an <embed> shows, which has no property for it.
function windowIn(element) {
  const view = element.ownerDocument.defaultView;
  for (let i = 0; i < view.length; i++) {
    try {
      if (view[i].frameElement === element) return view[i];
    } catch {} // of another origin
  }
  return null;
}

// isFrame says that an element shows a document.
function isFrame(element) {
  switch (element.localName) {
    case 'iframe': case 'frame': return true;
    case 'object': return element.contentWindow !== null;
    case 'embed': return embeds.has(element) || windowIn(element) !== null;
  }
  return false;
}

// embedded is the document in a frame element, or null if it lives in another process.
function embedded(element) {
  try {
    return element.localName === 'embed' ? windowIn(element)?.document ?? null : element.contentDocument;
  } catch {
    return null; // Another origin that we may not enter from here: treated as another process.
  }
}

// scopeOf is the document that a snapshot is of, and in it the element if one was asked for (null: no such element).
function scopeOf(options) {
  let doc = document;
  if (options.frame) {
    doc = embedded(byRef(options.frame));
    if (!doc || (options.document && documentEntry(doc).prefix !== options.document)) throw new Failure('changed');
  }
  return { doc, root: options.selector ? bySelector(options.selector, doc) : doc };
}

FUNCTIONS.snapshot = (options) => look(() => {
  resetNames();
  forgetGoneElements();
  documentEntry(document);
  draggedOutside ||= options.dragged;
  const walk = new Walk(options);
  const { doc, root } = scopeOf(options);
  if (root === doc) walk.document(doc, 0);
  else if (root) walk.scoped(root);
  const links = new Map();
  if (options.urls && root) {
    if (root !== doc && root.matches('a[href], area[href]')) addLink(root, links);
    linksIn(root, links);
    if (root !== doc && anyShadow(root)) linksIn(anyShadow(root), links);
  }
  resetNames();
  suspects = worthAsking(walk.bare);
  custom = walk.custom.slice(0, SUSPECTS);
  return {
    ...walk.finish(),
    stopped: walk.stopped,
    frames: walk.frames,
    documents: documentCount,
    document: documentEntry(doc).prefix,
    found: root !== null,
    pdf: document.contentType === 'application/pdf',
    suspects: suspects.length,
    custom: custom.length,
    unseenOutside,
    links: Array.from(links, ([url, text]) => ({ url, text })),
    title: document.title,
    token: TOKEN,
  };
});

// frameOf finds the frame element that a snapshot is to be limited to, and its document, '' if it lives elsewhere.
FUNCTIONS.frameOf = (a) => {
  const element = a.ref ? byRef(a.ref) : bySelector(a.selector);
  if (!element) throw new Failure('noframe');
  if (!isFrame(element)) throw new Failure('notframe', describe(element));
  const doc = embedded(element);
  return { ref: refOf(element), document: doc ? documentEntry(doc).prefix : '' };
};

// same says whether a frame element still shows that document.
FUNCTIONS.same = (a) => {
  const doc = embedded(byRef(a.frame));
  return doc !== null && documentEntry(doc).prefix === a.document;
};
