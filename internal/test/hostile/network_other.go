//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

func isolateCommand(*exec.Cmd) {}

// PrepareNamespace is not supported: only Linux has network namespaces.
func PrepareNamespace(string, []byte) (*rangeNetwork, error) { return nil, errors.ErrUnsupported }

func recordLoopback() (*packetRecorder, error) { return nil, errors.ErrUnsupported }
