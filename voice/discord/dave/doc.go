// Package dave is our part of Discord's end-to-end encryption of calls, version
// 1 of the DAVE protocol: the group of members, which agrees on keys over MLS
// (RFC 9420) with the help of the voice gateway, and the transform of frames,
// which encrypts what an encoder made before it is cut into packets.
//
// A [Session] is fed with the messages of the voice gateway and answers through
// two functions. It opens no sockets and starts no goroutines, and it is not
// for the encryption of packets between us and the server, which is a layer
// below it.
package dave
