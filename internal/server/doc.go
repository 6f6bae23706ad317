// Package server puts a running clank together: it chooses implementations, connects them, starts them in
// order and closes them in reverse.
//
// It is the only package besides cmd/clank that may import everything. It translates settings into what
// each package wants (models, budgets, hosts, calls, logins), and decides nothing about a task, a page or a
// call. One process owns a home directory; a lock file says which.
package server
