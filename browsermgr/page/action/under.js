// Says which of the frame elements in owners is under a point of this frame's viewport, and where in it the point is; without
// a point, which of them has the focus. Documents of this process are looked into on the way.
async (owners, at) => {
  const into = (el, x, y) => {
    const box = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    const scale = el.offsetWidth ? box.width / el.offsetWidth : 1;
    return {
      x: (x - box.left) / scale - el.clientLeft - parseFloat(style.paddingLeft),
      y: (y - box.top) / scale - el.clientTop - parseFloat(style.paddingTop),
    };
  };
  // What is pinched shows a part of the viewport, and points are counted from that.
  let x = (at?.x ?? 0) + (visualViewport?.offsetLeft ?? 0);
  let y = (at?.y ?? 0) + (visualViewport?.offsetTop ?? 0);
  for (let root = document, n = 0; n < 64; n++) {
    const el = at ? root.elementFromPoint(x, y) : root.activeElement;
    if (!el) return { owner: -1 };
    const owner = owners.indexOf(el);
    if (/^(i?frame|object|embed)$/.test(el.localName)) {
      ({ x, y } = into(el, x, y));
      if (owner >= 0) return { owner, x, y };
      root = el.contentDocument;
    } else {
      root = el.shadowRoot === root ? null : el.shadowRoot;
    }
    if (!root) return { owner: -1 };
  }
  return { owner: -1 };
}
