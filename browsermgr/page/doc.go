// Package page drives the tabs of one running Chromium: it opens and closes them, follows their frames,
// takes snapshots whose refs stay bound to their elements, performs actions with trusted input and waits
// for what follows.
//
// A Tab does one action at a time and is safe for many goroutines. Nothing waits for ever: each call has a
// deadline, and a page that shows a dialog, loops or crashes blocks no other tab. An action returns when
// what it set off has run: handlers, messages, due timers, requests up to a bound. The waiting script goes
// out with the last key or click. The next snapshot waits for one more frame, since what pages draw with it
// cannot be foreseen. A frame of another origin may share the process of its parent, in an agent cluster of
// its own, which no script crosses; each is its own frame on the parent's session. Addresses tell when to
// look for them. New documents get our scripts as soon as they are shown. Fields for passwords and one-time
// codes are marked [password], and their contents never leave the page. Processes, ownership and which
// addresses may load are not its business.
package page
