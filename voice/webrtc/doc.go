// Package webrtc connects pages in browsers by WebRTC: offer and answer, sound in both directions, video, and messages;
// and it implements the call that our pages join, as a Line.
//
// Several pages may be in one call; they do not hear each other. Offers are limited to eight at once, and in time. For
// a TURN server with a shared secret, each page gets a credential that expires. A page's offer cannot make us send
// packets to addresses it names, unless STUN servers are set. Who may connect is up to the caller.
package webrtc
