// Package voiceloop is make voice-loop: synthetic voices say stop words among sentences, with noise, and it
// is counted which browses of the real program end. It holds no speech of people.
package voiceloop
