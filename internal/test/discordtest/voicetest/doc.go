// Package voiceserver is one of Discord's voice servers: a voice gateway of version 8, a UDP port for media, and the
// forwarding between the members of a call (an SFU). It follows Discord's public documentation and what is known of the
// stream servers of Go Live, which speak the same protocol.
//
// The main gateway lets people in by [Server.Admit] and sees them out by [Server.Revoke]. A test makes trouble: it loses,
// doubles, delays and reorders packets, cuts the line, closes with any code, and looks at what came. What a client did that
// the real service would punish or ignore without a word is found in [Server.Violations].
//
// It is not for load, and it decides nothing about permissions.
package voicetest
