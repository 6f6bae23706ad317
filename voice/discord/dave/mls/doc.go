// Package mls is Messaging Layer Security (RFC 9420) as far as DAVE uses it:
// cipher suite 2, basic credentials that hold user ids, one external sender
// that proposes to add and remove members, commits that take proposals by
// reference, and Welcomes that carry the tree.
//
// It narrows the library behind it down to that: what DAVE forbids is refused
// here before the library sees it, a commit is tried on a copy so that nothing
// half done is left behind, and no error of the library gets out, since some
// of them quote secrets. It is not for sending messages over MLS.
package mls
