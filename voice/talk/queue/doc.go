// Package queue is how the goroutines of a call leave things for each other without waiting: work for the one that owns its state,
// messages that are written one after the other, and sound for a spotter that is not ready yet.
//
// It knows nothing of calls, or of what is done.
package queue
