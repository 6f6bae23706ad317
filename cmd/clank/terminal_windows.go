//go:build !browseronly

package main

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// openConsole opens what people type into. A read of it cannot be broken off here: after Close one is left behind, which ends
// with the next line that is typed, or the program.
func openConsole() (io.ReadCloser, error) {
	console, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	typed, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, console)
		_ = to.CloseWithError(err)
		_ = console.Close()
	}()
	return typed, nil
}

// allowEscapes has a console obey escape sequences, and reports whether it does.
func allowEscapes(console *os.File) bool {
	var mode uint32
	h := windows.Handle(console.Fd())
	return windows.GetConsoleMode(h, &mode) == nil && windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
