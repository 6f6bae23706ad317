// Package untrusted puts page text between markers that a page cannot guess, takes out what could pass for
// a marker in any alphabet, shows hidden characters, and disarms what would act by being shown.
//
// Markers have an id of 64 random bits. It is for text that a model reads; it is no HTML sanitizer and
// decides nothing about what a page says.
package untrusted
