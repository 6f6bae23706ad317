// Package layout is a test of the import rules in ARCHITECTURE.md: about ten layering rules and the
// third-party boundaries. It is not a list of imports.
package layout
