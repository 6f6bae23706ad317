//go:build !linux

package ground

import (
	"errors"
	"os/exec"
)

func isolate(*exec.Cmd) {}

// Prepare fails: network namespaces are Linux's.
func Prepare(string, []byte) (*Ground, error) {
	return nil, errors.New("furnish network namespace: only Linux has them")
}

// Tap fails likewise.
func Tap() (*Recorder, error) { return nil, errors.New("record packets: only Linux has them") }
