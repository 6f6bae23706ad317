// Package untrusted puts page text between markers that a page cannot guess, removes look-alikes of the markers in
// any alphabet, makes hidden characters visible, and disarms text that has an effect when it is displayed.
//
// Markers have a random id of 64 bits. The package is for text that a model reads; it is not an HTML sanitizer and
// does not judge what a page says.
package untrusted
