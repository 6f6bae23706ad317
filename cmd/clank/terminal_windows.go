//go:build !browseronly

package main

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// openConsole opens the console for reading. A read cannot be interrupted here: after Close one is left, which ends
// with the next typed line or with the process.
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

// allowEscapes enables escape sequences of a console and reports whether it supports them.
func allowEscapes(console *os.File) bool {
	var mode uint32
	h := windows.Handle(console.Fd())
	return windows.GetConsoleMode(h, &mode) == nil &&
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
