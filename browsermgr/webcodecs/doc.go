// Package webcodecs encodes video with the VideoEncoder (W3C WebCodecs) of a separate Chromium, so that no other
// program is needed.
//
// This Chromium does not show pages: no page shares a process, a profile or a connection with it, and it also serves
// browsers that run elsewhere. It has no network, and one empty page from a file, since WebCodecs requires a secure
// context. It starts with the first encoder and stops some time after the last one was closed.
//
// A picture is passed as JPEG over the DevTools pipe and returned as one VP8 frame: in realtime mode without
// look-ahead, so that no frame is delayed. The caller chooses key frames and the bit rate.
package webcodecs
