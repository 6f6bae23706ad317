// Package action serves the route by which something is done in a tab: it reads an action or a batch of them, judges it,
// and does it in the tab's turn.
//
// What an action is, and how a page is acted on, is package page's; this one knows how requests spell it, what is refused
// before anything is done, and when a batch ends early.
package action
