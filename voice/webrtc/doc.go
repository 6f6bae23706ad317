// Package webrtc is WebRTC to a page in a browser: offer and answer, sound both ways, pictures, messages;
// and the call that our pages join, as a Line.
//
// Several pages may be in one call; they do not hear each other. Offers are bounded: eight at once, and in
// time. Of a shared TURN secret each page gets a credential that expires. A page's offer cannot make us
// send packets to addresses it names, unless STUN servers are set. Who may connect is for the caller to
// say.
package webrtc
