// Package action performs actions on a page with trusted input, as a person would: click, type, choose, drag, scroll;
// and runs scripts of the caller.
//
// An action begins when its element is found, visible, stable, enabled and on top, as checked in the page, and ends
// when the tab reports that its effects have arrived. The package does not track documents, tabs or dialogs.
package action
