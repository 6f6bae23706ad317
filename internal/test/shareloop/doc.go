// Package shareloop is "make share-loop", as tests: the whole way of a share by Go Live, from a page in a real Chromium to pictures that
// somebody else's programs have decrypted (davey) and decoded (ffmpeg), over UDP, over UDP that loses packets, and over WebRTC. It says how
// like the page they are, how late they come, and what that costs.
//
// It judges no details: those are tested in the packages along the way.
package shareloop
