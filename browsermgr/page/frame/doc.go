// Package frame runs our own scripts in the documents of a tab, frames of other processes included, and finds the elements
// that refs name in them.
//
// The scripts live in an isolated world for each document: same elements, own globals, out of the page's reach. What the
// scripts are asked to do is decided by the packages above.
package frame
