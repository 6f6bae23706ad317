// Package conn implements one voice connection: the voice gateway (version 8), the packets, their transport encryption
// (rtpsize), the mapping of sources to users, and outgoing video.
//
// It handles messages in order, since the order determines which keys are valid, and resumes with the last sequence
// number it has seen. Video packets are paced: at least 4 packets in 2 ms, and all within half of the frame interval,
// because losing one packet of a picture of 170 packets loses the picture. NACKs (RFC 4585) are answered from a ring
// buffer (RFC 4588), within a budget. Only a single goroutine per connection sends. The package does not encode sound.
package conn
