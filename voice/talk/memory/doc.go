// Package memory is what a conversation remembers: what was said to us and by us, and what we said aloud lately, by which our own speech is
// known when it comes back through a microphone.
//
// It stores nothing, and does not decide what is done with an echo. What is in it belongs to one goroutine.
package memory
