// Package conn is one voice connection: the voice gateway (version 8), the packets, their transport
// encryption (rtpsize), who sends what, and pictures on their way out.
//
// It keeps one order of messages, since the order decides which keys are right, and resumes with the
// sequence it has seen. Pictures leave at a pace, at least 4 packets in 2 ms and all within half of the
// time between two pictures, because a picture of 170 packets is lost with one packet; NACKs (RFC 4585) are
// answered from a ring (RFC 4588), within a budget. Only a single goroutine per connection sends. It
// encodes no sound.
package conn
