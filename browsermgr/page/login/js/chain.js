// Maps boxes of a document to the viewport of the root document of its frame, so many frame elements above. With onTop, the frame
// must be seen at the middle of each box, or the answer is null; so it is if a document on the way cannot be entered.
(boxes, onTop, up) => {
  let out = boxes;
  for (let w = window, n = 0; n < up; w = w.parent, n++) {
    const owner = w.frameElement;
    if (!owner) return null;
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
