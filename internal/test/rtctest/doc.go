// Package rtctest implements the page at the other end of a WebRTC connection without a browser: it sends and
// receives over a second pion connection.
package rtctest
