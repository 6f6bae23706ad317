// Package voicetest is a voice server (gateway v8, UDP, forwarding), members who share no code with our
// line, and the server's end of WebRTC mode. A test loses, doubles, delays and reorders packets, and closes
// with any code.
//
// Violations are what the real service would punish. The transport encryption is a second reading of the
// documents. End-to-end encryption is a hook, so other programs can be the other side.
package voicetest
