// Package frame runs our scripts in the documents of a tab, in an isolated world of each document: it shares the DOM
// but has its own globals, which the page cannot reach. It resolves refs to elements, and takes snapshots of a tab by
// querying all its frames concurrently.
//
// A ref is bound to the element it was made from, survives reordering, and fails clearly when the element is gone. A
// newer capture is never overwritten by an older one that ends later. Elements that only a listener makes clickable
// have a ref, too: DevTools lists listeners, in 1 to 2 ms for 50,000 elements. The query uses the page's own document
// object: given one of an isolated world, Chromium 156 mixes up the wrappers of both worlds and may crash the renderer.
// The accessibility tree (format aria) is for clients that need exactly that tree; it is slow on large pages. Callers
// decide what the scripts do.
package frame
