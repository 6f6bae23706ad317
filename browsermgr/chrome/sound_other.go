//go:build !linux

package chrome

// openSound does nothing here: only Linux has ALSA.
func openSound(string) (*Sound, []string, error) { return nil, nil, nil }
