// Package injection holds no program: its tests are a corpus of pages that try
// to speak to a model as somebody else, shown to a model through a real browser
// and both ways in which models work one.
//
// What a page could do to a browser or a network is tested elsewhere.
package injection
