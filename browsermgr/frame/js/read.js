// Reading for people: the text of a page and where its links lead.

const textOf = (element) => {
  if (isSecret(element)) return element.value ? MASK : '';
  return element.matches('input, textarea, select') ? element.value : (element.innerText ?? element.textContent);
};

FUNCTIONS.text = (a) => look(() => {
  if (a.ref) return { text: textOf(byRef(a.ref)), found: true };
  if (a.selector) {
    const element = bySelector(a.selector);
    return { text: element ? textOf(element) : '', found: element !== null };
  }
  for (const selector of ['article', 'main, [role="main"]']) {
    const found = document.querySelectorAll(selector);
    if (found.length === 1 && found[0].innerText?.trim()) return { text: found[0].innerText, found: true };
  }
  return { text: document.body?.innerText ?? document.documentElement?.textContent ?? '', found: true };
});

FUNCTIONS.links = (a) => look(() => {
  const found = new Map();
  resetNames();
  linksIn(document, found, a.most);
  return Array.from(found, ([url, text]) => ({ text, url }));
});

FUNCTIONS.title = () => document.title;

return Object.assign(answerCall, { token: TOKEN });
