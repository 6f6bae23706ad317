// Package page drives the tabs of a running Chromium: it opens and closes them, tracks their frames, takes snapshots
// whose refs stay bound to their elements, performs actions with trusted input and waits for their effects.
//
// A Tab runs one action at a time and is safe for concurrent use. Each call has a deadline, and a page that shows a
// dialog, loops or crashes blocks no other tab. An action returns when its effects have run: handlers, messages, due
// timers and, within limits, requests. The script that waits for them is sent with the last key or click. The next
// snapshot waits for one more animation frame. A cross-origin frame may share its parent's process in another agent
// cluster, which no script can enter; each is a separate frame on the parent's session. URLs show when to look for such
// frames. New documents get our scripts as soon as they are shown. Fields for passwords and one-time codes are marked
// [password], and their contents never leave the page. Processes, ownership and which addresses may load are left to
// other packages.
package page
