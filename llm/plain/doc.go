// Package plain is the built-in model that needs no account: it follows written steps and says what it does
// not understand before it does anything.
//
// It uses the same tools, sessions and loop as any other model. It is not a language model: it finds on a page only
// what is called by its name. It hears new instructions when it has done what it was at. It runs saved scripts.
package plain
