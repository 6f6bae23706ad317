// Package server assembles a running clank: it chooses implementations, connects them, starts them in order and
// closes them in reverse.
//
// Besides cmd/clank it is the only package that may import everything. It converts settings into the configuration of
// each package (models, budgets, hosts, calls, logins), and makes no decisions about tasks, pages or calls. One
// process owns a home directory; a lock file says which.
package server
