// Package capture takes snapshots of a tab: it asks all its frames at once, joins what they say, publishes the refs and
// tells what is new.
//
// It does not wait for the page to load and takes no turn in the tab; that is up to the package above. What the lines look
// like is decided in the page and by package outline.
package capture
