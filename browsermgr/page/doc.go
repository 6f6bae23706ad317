// Package page drives the tabs of one running Chromium over the DevTools protocol: it opens and closes them, follows
// their frames (also those that live in other processes), takes text snapshots whose refs stay bound to the elements they
// were made from, acts on those elements with trusted input, and waits for what follows.
//
// [Connect] opens one WebSocket to the browser and yields a [Browser]; a Browser yields tabs; a [Tab] is safe for use by
// many goroutines and does one action at a time. Nothing here waits for ever: each protocol call has a deadline and obeys
// its context at once, even if Chromium never answers, and a page that shows a dialog, loops or crashes is reported and
// blocks no other tab.
//
// The package is not for finding, starting or stopping browser processes, not for deciding which addresses a page may
// load, and not for profiles, ownership or limits: those are its siblings' and its parent's.
package page
