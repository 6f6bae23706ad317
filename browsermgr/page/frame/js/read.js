// Reading for people: the text of a page and where its links lead.

const textOf = (element) => {
  if (isSecret(element)) return element.value ? MASK : '';
  return element.matches('input, textarea, select') ? element.value : shownText(element);
};

// unseen are elements that may have a closed shadow root: nothing in them is ours to see, or they are custom ones.
const unseen = new Set();

// reading reads, and hands the driver what it could not see.
const reading = (read) => look(() => {
  unseen.clear();
  const found = read();
  suspects = worthAsking(Array.from(unseen));
  return { ...found, suspects: suspects.length };
});

// composed adds to seen what has shadow content or slots below it, and itself. What is left of a page is text as the browser gives it.
function composed(root, top, seen) {
  for (const element of [root, ...root.querySelectorAll('*')]) {
    const tag = element.localName;
    const inner = element.nodeType === 1 ? shadowOf(element, tag) : null;
    if (!inner && tag && (tag.includes('-') || element.firstChild === null) && suspicious(element, tag)) unseen.add(element);
    if (!inner && tag !== 'slot') continue;
    for (let at = element; at && !seen.has(at); at = at === top ? null : (at.parentElement ?? at.getRootNode().host)) seen.add(at);
    if (inner) composed(inner, top, seen);
  }
  return seen;
}

// shownText is innerText, with what shadow roots show in the places where they show it, and what closed lists show.
function shownText(element) {
  const parts = composed(element, element, new Set());
  const text = parts.size ? flow('', element, parts).trim() : (element.innerText ?? element.textContent ?? '');
  return foldLists(text, [element, ...Array.from(parts, (part) => shadowOf(part, part.localName))]);
}

// foldLists has closed lists show their chosen option and how many there are, in place of all. A short one that reads like other
// text of the page stays.
function foldLists(text, roots) {
  const lists = new Map();
  for (const list of roots.flatMap((root) => Array.from(root?.querySelectorAll('select') ?? []))) {
    const all = list.innerText.trim();
    if (list.multiple || list.size > 1 || !all || !shown(list)) continue;
    lists.set(all, [...(lists.get(all) ?? []), list]);
  }
  for (const [all, same] of Array.from(lists).sort(([a], [b]) => b.length - a.length)) {
    const around = text.split(all);
    if (all.length < 60 && around.length !== same.length + 1) continue;
    text = around.reduce((before, after, i) => {
      const { selectedOptions: [chosen], options } = same[Math.min(i, same.length) - 1];
      return `${before}${chosen?.label ?? ''} (${options.length} options)${after}`;
    });
  }
  return text;
}

// spaced is innerText of something in a line, with the space around it, which innerText drops.
function spaced(element) {
  const all = element.textContent;
  return (/^\s/.test(all) ? ' ' : '') + (element.innerText ?? '') + (/\s$/.test(all) ? ' ' : '');
}

// flow is the text so far and that of the element, with a line for each block.
function flow(text, element, parts) {
  const add = (words) => { text += /(^|\s)$/.test(text) ? words.trimStart() : words; };
  const visible = getComputedStyle(element).visibility === 'visible';
  for (const node of flatChildren(element)) {
    if (node.nodeType === 3 && visible) add(node.data.replace(/\s+/g, ' '));
    if (node.nodeType !== 1) continue;
    const { display } = getComputedStyle(node);
    if (display === 'none') continue;
    const block = !/^(inline|contents|ruby)/.test(display);
    if (block || node.localName === 'br') text = `${text.trimEnd()}\n`;
    if (parts.has(node)) text = flow(text, node, parts);
    else add(block ? (node.innerText ?? '') : spaced(node));
    if (block) text = `${text.trimEnd()}\n`;
  }
  return text;
}

// framesIn are the frames below a part of a document, those in shadow roots too.
const framesIn = (part) => Array.from(composed(part, part, new Set()), (element) => shadowOf(element, element.localName))
  .concat(part).flatMap((root) => Array.from(root?.querySelectorAll('iframe, frame, object, embed') ?? []))
  .filter(isFrame);

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
  const text = part ? shownText(part) : '';
  const frames = [];
  for (const element of part ? framesIn(part) : []) {
    if (frames.length >= a.frames || depth >= a.depth) break;
    if (!visibleFrame(element)) continue;
    const inner = embedded(element);
    const name = clip(nameOf(element, 'Iframe'));
    frames.push(inner ? { name, page: pageText(inner, a, depth + 1) } : { name, ref: refOf(element) });
  }
  const limit = a.main && depth === 0 ? Infinity : a.chars;
  return { text: text.slice(0, limit), cut: text.length > limit, host: doc.location?.host ?? '', frames };
}

FUNCTIONS.pageText = (a) => reading(() => {
  resetNames();
  return pageText(document, a);
});

FUNCTIONS.text = (a) => reading(() => {
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
