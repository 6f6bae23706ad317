// Package outline handles the text form of a page: lines of roles and names with refs, joined from the descriptions of
// each process's documents. Scripts in the page write the lines; this package parses, numbers, nests and truncates
// them.
//
// It does not communicate with a browser.
package outline
