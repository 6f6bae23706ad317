// Package outline is the text form of a page: lines of roles and names with refs, joined from what each process of the page
// says of its documents.
//
// The lines themselves are written in the page. This package reads, numbers, nests and cuts them; it talks to no browser.
package outline
