//go:build !linux

package server

// sharedFileSystem cannot tell here.
func sharedFileSystem(string) string { return "" }
