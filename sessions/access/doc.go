// Package access says who may use clank from where, which browser profile they use, and which tokens grant access to
// what.
//
// Rules are pure: settings in, a decision out. The bot checks before it does anything; the Manager checks every task
// again, whichever front end it came from. A token is shown once and stored as its SHA-256 digest: 256 random bits
// need no slower hash. The only assumption about Discord is that ids are unique.
package access
