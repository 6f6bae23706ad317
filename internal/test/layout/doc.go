// Package layout tests the import rules of ARCHITECTURE.md: about ten layering rules and the boundaries for
// third-party modules. It is not a list of imports.
package layout
