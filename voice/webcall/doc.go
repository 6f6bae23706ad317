// Package webcall is the call that pages of ours join: the same [voice.Line] as
// a voice channel, over WebRTC. Several pages may be in one call; each is a
// person of its own, all hear what we say and see what is shown. They do not
// hear each other: this is a way to talk to us, not a place to meet.
//
// It serves the pages' requests, and leaves to whoever mounts it who may ask,
// what the page looks like, and what is talked about.
package webcall
