//go:build !linux

package server

// availableMemory is unknown on this platform.
func availableMemory(string) (share float64, known bool) { return 0, false }
