// Package rtctest is the page at the other end of a WebRTC connection, without a browser: it speaks and
// listens over a second connection of pion's.
package rtctest
