// Package address reads web addresses as people write them, whole or as patterns, and says in words why one did not
// load, and what an error of a connection means, for which Windows has numbers of its own. It does not decide which addresses a page may load.
package address
