// Package playout says things in a call: a queue of sentences, one packet every 20 ms by a clock that does
// not drift, silence at once on request, and a record of what could be heard.
//
// A sentence ends with silence frames, as Opus wants. It makes no sound and does not decide who may speak.
package playout
