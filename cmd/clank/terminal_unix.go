//go:build unix && !browseronly

package main

import (
	"io"
	"os"
)

// openConsole opens the terminal for reading. Unlike standard input, it can be closed during a read.
func openConsole() (io.ReadCloser, error) { return os.OpenFile("/dev/tty", os.O_RDONLY, 0) }

// allowEscapes reports whether a terminal supports escape sequences.
func allowEscapes(*os.File) bool { return true }
