// Package address reads web addresses as people write them, whole or as patterns, and says in words why one did not
// load. It does not decide which addresses a page may load.
package address
