// Reading for people: the text of a page and where its links lead.

const textOf = (element) => {
  if (isSecret(element)) return element.value ? MASK : '';
  return element.matches('input, textarea, select') ? element.value : (element.innerText ?? element.textContent);
};

// mainPart is where the text of a document is: its article, its main part or all of it.
function mainPart(doc) {
  for (const selector of ['article', 'main, [role="main"]']) {
    const found = doc.querySelectorAll(selector);
    if (found.length === 1 && found[0].innerText?.trim()) return found[0];
  }
  return doc.body ?? doc.documentElement;
}

// visibleFrame says that a frame has room on the page.
const visibleFrame = (element) => shown(element) && Math.min(element.clientWidth, element.clientHeight) >= 8;

// pageText is the text of a document and, after it, of the frames that are shown in it: a frame of another process or origin is left to
// the driver, under the ref of its element.
function pageText(doc, a, depth = 0) {
  const part = mainPart(doc);
  const text = part?.innerText ?? part?.textContent ?? '';
  const frames = [];
  for (const element of part?.querySelectorAll('iframe, frame') ?? []) {
    if (frames.length >= a.frames || depth >= a.depth) break;
    if (!visibleFrame(element)) continue;
    const inner = embedded(element);
    const name = clip(nameOf(element, 'Iframe'));
    frames.push(inner ? { name, page: pageText(inner, a, depth + 1) } : { name, ref: refOf(element) });
  }
  const limit = a.main && depth === 0 ? Infinity : a.chars;
  return { text: text.slice(0, limit), cut: text.length > limit, host: doc.location?.host ?? '', frames };
}

FUNCTIONS.pageText = (a) => look(() => {
  resetNames();
  return pageText(document, a);
});

FUNCTIONS.text = (a) => look(() => {
  const element = a.ref ? byRef(a.ref) : bySelector(a.selector);
  return { text: element ? textOf(element) : '', found: element !== null };
});

FUNCTIONS.links = (a) => look(() => {
  const found = new Map();
  resetNames();
  linksIn(document, found, a.most);
  return Array.from(found, ([url, text]) => ({ text, url }));
});

FUNCTIONS.title = () => document.title;

return Object.assign(answerCall, { token: TOKEN });
