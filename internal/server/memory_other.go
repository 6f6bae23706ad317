//go:build !linux

package server

// availableMemory tells nothing: how much of a file cache may be had is not to be known here.
func availableMemory(string) (share float64, known bool) { return 0, false }
