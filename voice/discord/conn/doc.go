// Package media is one voice connection to Discord: the voice gateway (version
// 8) over a WebSocket, the transport of packets, and the encryption from end to
// end between the encoder and the packets. A voice call is one; a Go Live
// stream is another, with pictures.
//
// It keeps the connection alive by itself as long as the credentials of its
// [Target] hold. It knows nothing of Discord's main gateway, from which those
// come: package discord does that. It encodes and decodes no sound.
package conn
