// Package vad detects voice activity: it turns packets into sound and utterances. It orders each person's packets,
// waits up to 100 ms for missing ones, conceals losses, distinguishes speech from noise, and finds the begin and end of
// speech.
//
// An utterance ends after 700 ms of silence. It is sent for transcription after half of that, so that the text is ready
// at its end; this costs up to two additional transcriptions. A full stop in a transcription is no evidence of the end:
// recognisers also put it after half sentences. Packets of people who opted out are dropped before decoding. The
// package does not know what is said.
package vad
