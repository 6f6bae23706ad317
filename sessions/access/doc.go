// Package access says who may use clank from where, whose browser profile somebody works with, and which secrets open
// which door.
//
// The rules are pure: rules in, a decision out. The bot asks before it does anything; the Manager asks
// again for every task, whichever way it came. A token is shown once and kept as its SHA-256 digest: 256
// random bits need no slower hash. It knows of Discord only that ids are unique.
package access
