// Package voice is the vocabulary of a call: who is in it ([Person]), what they
// send ([Packet]), our own end of it ([Line]), and what is made of sound on the
// way in ([Sound], [Utterance]) and on the way out.
//
// It knows neither Discord nor WebRTC, which are lines in packages below it,
// and no model: what is said in a call is the business of voice/talk.
package voice
