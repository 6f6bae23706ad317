// Package keyword hears a few phrases in running speech, with pocketsphinx, one process per speaker: the
// stop words and our name.
//
// It needs no key and no network, so a stop waits for no server. A stop counts only alone, with silence
// before and after ("the bus stop is closed" is talk). "top" is nearly "stop" to the recogniser, so it is
// checked for a hiss, a closure, and only then a vowel. Thresholds are measured (make voice-loop). There
// are eight places; the ninth speaker takes that of the one with the least claim. It does not know what is
// done about a phrase.
package keyword
