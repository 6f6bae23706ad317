// Package share shows a session's page to a call: who may, on which stage (call page, Go Live, link), for
// how long; with the viewer's page behind the link.
//
// The first stage that accepts shows the page; a refusal is reported and the next is tried. A share is of
// the session's owner or a moderator; private sessions are never shared. The right to show is checked again
// while it lasts. A share that moves with its call is another share with an id of its own, so old links are
// void; it waits five seconds for the call to follow. A link is signed with a key of this run, and its
// secret is in the fragment.
//
// A session can be shown behind links without a call, too: [Manager.Invite] makes one, for the browser that opens it
// first. The links to a session are one share; it ends with the last of them. A link says whether its holder may work
// the page (then [sessions.ControlRequest] is Invited) or watch.
//
// The viewer's page has a listener of its own and can do nothing: WebRTC first, WebSocket and WebCodecs next,
// still pictures last. Sessions shown by several calls share one source.
package share
