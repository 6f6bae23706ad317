// Package address parses web addresses and URL patterns as people write them, and explains why a page did not load and
// what the errors of connections mean, whose numbers differ on Windows. It does not decide which addresses a page may
// load.
package address
