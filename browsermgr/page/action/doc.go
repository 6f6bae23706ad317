// Package action does to a page what a person would do, with trusted input: click, type, choose, drag,
// scroll, and scripts of the caller.
//
// An action begins when its element is found, visible, still, enabled and on top, as checked in the page,
// and ends when the tab says that what it led to has arrived. It does not follow documents, tabs or
// dialogs.
package action
