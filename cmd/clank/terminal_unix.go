//go:build unix && !browseronly

package main

import (
	"io"
	"os"
)

// openConsole opens what people type into. Unlike the standard input it can be closed while it is read from.
func openConsole() (io.ReadCloser, error) { return os.OpenFile("/dev/tty", os.O_RDONLY, 0) }

// allowEscapes reports whether a terminal obeys escape sequences.
func allowEscapes(*os.File) bool { return true }
