// Package vad turns packets into sound and utterances: it orders each person's packets, waits up to 100 ms
// behind a gap, conceals losses, tells speech from noise, and finds where somebody begins and ends.
//
// An utterance is over after 700 ms of silence. It is sent for transcription after half of that, so the
// words are there when it is certain; that costs up to two more transcriptions. A full stop from a
// recogniser is no end: it is put behind half sentences, too. Who opted out is dropped before decoding. It
// does not know what is said.
package vad
