// Package injection is a corpus of pages that speak to a model as somebody else, shown through a real browser to both
// loops. It has tests only.
package injection
