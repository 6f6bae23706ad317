// Package watches checks pages repeatedly until what people wait for happens: a change, a price, words, or a
// condition in their own words.
//
// It reads pages in the cheapest way (package web, else a browser) and compares text without a model, ignoring what
// changes by itself. A model is asked only about a condition in words, after a change, without tools. Its calls are
// charged to the owner. The [Host] reads pages and notifies people.
package watches
