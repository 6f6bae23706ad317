//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

func isolateCommand(*exec.Cmd) {}

// prepareNamespace fails: network namespaces are Linux's.
func prepareNamespace(string, []byte) (*rangeNetwork, error) {
	return nil, errors.New("furnish network namespace: only Linux has them")
}

// recordLoopback fails likewise.
func recordLoopback() (*packetRecorder, error) {
	return nil, errors.New("record packets: only Linux has them")
}
