// Package voice is the vocabulary of a call: people, packets, our own end of it (a Line), and sound in and out; plus
// Opus, Ogg, WAV and resampling, and the list of people who opted out of being heard.
//
// Discord and the call page are two implementations of Line. Nothing above them knows which one it has, so everything
// said in a call can be tried in a browser. Packets of people who opted out, per person and server, are dropped before
// decoding. The package knows no model.
package voice
