// Package playout plays speech in a call: it has a queue of sentences, sends one packet every 20 ms by a clock that
// does not drift, stops immediately on request, and knows how much was heard.
//
// A sentence ends with silence frames, as Opus requires. The package does not synthesize and does not decide who may
// speak.
package playout
