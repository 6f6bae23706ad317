// Waiting inside the page: a condition is looked at when the document changes and once a frame, never in a busy loop.

const lower = (text) => squeeze(text).toLowerCase();

// visibleText says whether a case-insensitive piece of text is shown anywhere in a document, its frames or shadow roots.
function visibleText(root, wanted) {
  const top = root.body ?? root.documentElement; // a shadow root has neither
  if (top && lower(top.innerText ?? top.textContent).includes(wanted)) return true;
  for (const element of root.querySelectorAll('*')) {
    const root = anyShadow(element);
    if (root) {
      for (const child of root.children) {
        if (child.checkVisibility() && lower(child.innerText ?? '').includes(wanted)) return true;
      }
      if (visibleText(root, wanted)) return true;
    } else if (isFrame(element) && embedded(element) && visibleText(embedded(element), wanted)) {
      return true;
    }
  }
  return false;
}

let cancelWait = null;

// met says whether a condition holds now.
function met(a) {
  if (!a.selector) return visibleText(document, lower(a.text ?? '')) !== a.gone;
  const element = bySelector(a.selector);
  return element !== null && shown(element);
}

FUNCTIONS.waitFor = (a) => idle ? met(a) : new Promise((resolve, reject) => {
  cancelWait?.();
  let done = false;
  let dirty = true;
  let checked = 0;
  const finish = (value, error) => {
    if (done) return;
    done = true;
    observer.disconnect();
    clearTimeout(timer);
    cancelWait = null;
    if (error) reject(error);
    else resolve(value);
  };
  const observer = new MutationObserver(() => { dirty = true; });
  observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  const timer = setTimeout(() => finish(false), a.timeout);
  cancelWait = () => finish(false);
  const look = async () => {
    while (!done) {
      // Styles, frames and shadow roots change without a mutation here: look again now and then as well.
      if (dirty || performance.now() - checked > 100) {
        dirty = false;
        checked = performance.now();
        try {
          if (met(a)) return finish(true);
        } catch (e) {
          return finish(false, e);
        }
      }
      await frame();
    }
  };
  look();
});

FUNCTIONS.cancelWait = () => {
  cancelWait?.();
  return true;
};
