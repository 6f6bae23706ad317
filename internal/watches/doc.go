// Package watches looks at pages again until what people wait for is there: a change, a price, words, or a
// condition in their words.
//
// It reads in the cheapest way (package web, else a browser) and compares text without a model; what
// changes by itself is ignored. A model is asked only about a condition in words, after a change, without
// tools. Calls are charged to the owner. How pages are read and people are told is given to it.
package watches
