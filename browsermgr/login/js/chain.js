// Maps boxes of a frame's document to the viewport of its local root, in a world that may look into the frames above in the
// same process. With onTop, the frame must be seen at the middle of each box, or the answer is null.
(boxes, onTop) => {
  let out = boxes;
  for (let w = window; w.frameElement; w = w.parent) {
    const owner = w.frameElement;
    const b = owner.getBoundingClientRect();
    const style = owner.ownerDocument.defaultView.getComputedStyle(owner);
    const scale = owner.offsetWidth ? b.width / owner.offsetWidth : 1;
    const left = b.left + scale * (owner.clientLeft + parseFloat(style.paddingLeft));
    const top = b.top + scale * (owner.clientTop + parseFloat(style.paddingTop));
    out = out.map((r) => ({ left: left + scale * r.left, top: top + scale * r.top, right: left + scale * r.right, bottom: top + scale * r.bottom }));
    if (!onTop) continue;
    owner.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const after = owner.getBoundingClientRect();
    out = out.map((r) => ({ left: r.left + after.left - b.left, top: r.top + after.top - b.top, right: r.right + after.left - b.left, bottom: r.bottom + after.top - b.top }));
    for (let n = owner; n; n = n.parentElement ?? n.getRootNode().host) {
      if (parseFloat(owner.ownerDocument.defaultView.getComputedStyle(n).opacity) < 0.2) return null;
    }
    for (const r of out) {
      if (owner.getRootNode().elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) !== owner) return null;
    }
  }
  return out;
}
