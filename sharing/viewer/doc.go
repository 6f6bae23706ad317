// Package viewer is a page on which whoever has a link watches a share, without
// an account: over WebRTC, and where that is not to be had over a WebSocket,
// with the same frames. It can be served under an address of its own, which is
// reachable from outside while the operator's page is not.
//
// The secret of a link is in its fragment ("…/#secret"): browsers send it to
// nobody, so it is neither in the logs of a proxy nor in a Referer. The page's
// script takes it from there and shows it with each request, in its body.
//
// What links are good for is decided by [Links]; what is shown comes from a
// source of pictures. The page cannot be used to do anything.
package viewer
