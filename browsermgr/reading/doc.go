// Package reading takes from a page what people read there: its text and its links, those of its frames included.
//
// It is not for what can be acted on, which snapshots show, nor for making documents out of pages.
package reading
