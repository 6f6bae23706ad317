// Package webcodecs encodes video with the VideoEncoder (W3C WebCodecs) of a Chromium of its own, so that no other
// program is needed.
//
// The Chromium is another one than those that show pages: no page shares a process, a profile or a connection with
// it, and it works for browsers that run elsewhere, too. It has no way to any network, and one empty page from a file,
// since WebCodecs wants a secure context. It starts with the first encoder and ends a while after the last.
//
// A picture goes in as JPEG over the DevTools pipe and comes back as one VP8 frame: realtime, without look-ahead, so
// nothing is held back. Who calls decides when a frame is a key frame and what bit rate there is.
package webcodecs
