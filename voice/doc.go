// Package voice is the vocabulary of a call: people, packets, our own end of it (a Line), sound in and out;
// plus Opus, Ogg, WAV and resampling, and who does not want to be heard.
//
// Discord and the call page are two Lines, and nothing above knows which one it has, so everything said in
// a call can be tried in a browser. Who opted out, per person and server, is dropped before decoding. It
// knows no model.
package voice
