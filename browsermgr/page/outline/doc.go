// Package outline is the text form of a page: lines of roles and names with refs, joined from what each
// process says of its documents. The lines are written in the page; this package reads, numbers, nests and
// cuts them.
//
// It talks to no browser.
package outline
