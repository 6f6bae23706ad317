// Package share shows a session's page to a call: who may do that, on which target (call page, Go Live, link), and for
// how long. It also serves the viewer's page behind the link.
//
// The first target that accepts shows the page; a refusal is reported and the next one is tried. A page is shared by
// its session's owner or a moderator; private sessions are never shared. This permission is checked again during the
// share. A share that moves with its call becomes another share with a new id, so old links are void; it waits five
// seconds for the call to follow. A link is signed with a key of this process, and its secret is in the fragment.
//
// A session can also be shown behind links without a call: [Manager.Invite] creates one, for the browser that opens it
// first. The links to a session form one share, which ends with the last of them. A link lets its holder either control
// the page (then [sessions.ControlRequest] is Invited) or only watch.
//
// The viewer's page has its own listener and cannot do anything else. It tries WebRTC first, then WebSocket and
// WebCodecs, and still pictures last. Sessions shown by several calls share one source.
package share
