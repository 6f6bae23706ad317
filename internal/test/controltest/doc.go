// Package controltest tests the contract of the control API, in go test against an in-process server, and in make
// conformance against the built binary. Areas: actions, snapshots, images, files, profiles, routes, commands,
// recordings.
package controltest
