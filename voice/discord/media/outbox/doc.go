// Package outbox has the pictures of one connection on their way out: frames
// made packets of RTP (RFC 3550, RFC 7741), sent at a pace, and sent again when
// somebody has not got them (RFC 4585, RFC 4588).
//
// It has no socket, no goroutine and no clock: whoever owns a [Box] says what
// time it is, and when to send. It encrypts nothing, and reads no frame.
package outbox
