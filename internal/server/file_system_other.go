//go:build !linux

package server

// sharedFileSystem is not implemented on this platform.
func sharedFileSystem(string) string { return "" }
