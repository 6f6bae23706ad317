// Package controltest is the control API's contract as cases, run against an address: in go test a server in process,
// in make conformance the built binary. Areas: actions, snapshots, pictures, files, profiles, routes, commands, what is
// recorded.
package controltest
