// Package voiceloop implements make voice-loop: synthetic voices speak stop words among other sentences, with noise,
// and the test counts which browses of the real program end. It contains no recordings of people.
package voiceloop
