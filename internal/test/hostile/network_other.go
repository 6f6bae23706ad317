//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

func isolateCommand(*exec.Cmd) {}

// PrepareNamespace cannot do it here: other systems than Linux have no namespaces.
func PrepareNamespace(string, []byte) (*rangeNetwork, error) { return nil, errors.ErrUnsupported }

func recordLoopback() (*packetRecorder, error) { return nil, errors.ErrUnsupported }
