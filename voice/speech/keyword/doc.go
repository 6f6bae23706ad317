// Package keyword spots a few phrases in running speech, the stop words and our name, with one pocketsphinx process per
// speaker.
//
// It needs no key and no network, so a stop does not depend on a server. A stop counts only alone, with silence before
// and after it ("the bus stop is closed" is talk). The recogniser confuses "top" with "stop", so the sound is checked
// for a hiss, a closure, and only then a vowel. The thresholds are measured (make voice-loop). At most eight people are
// listened to; a ninth replaces the one with the lowest priority. The package does not know what happens after a
// phrase.
package keyword
