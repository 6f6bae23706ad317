// Package frame runs our scripts in the documents of a tab, in an isolated world for each document: the
// same elements, own globals, out of the page's reach. It finds the elements that refs name, and takes
// snapshots of one tab by asking all its frames at once.
//
// A ref is bound to the element it was made from, survives reordering, and fails plainly when the element
// is gone. A newer capture is never overwritten by an older one that ends later. Elements that only a
// listener makes clickable have a ref, too: DevTools tells of listeners, 1 to 2 ms on 50,000 elements. The
// question is put to the page's own document object: put to that of an isolated world, Chromium 156 mixes
// up the two worlds' wrappers and may crash the renderer. The accessibility tree (format aria) is for those
// who want that very tree; it is slow on large pages. What scripts are asked to do is decided above.
package frame
