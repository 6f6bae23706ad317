// Package queue is how the goroutines of a call leave things for each other without waiting: work for the one that owns its state, and
// messages that are written one after the other.
//
// It knows nothing of calls, or of what is done.
package queue
