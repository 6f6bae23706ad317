package main

import (
	"context"
	"io"
	"os"
)

// maxInputFile is the most bytes that are read of a file that a command is given.
const maxInputFile = 1_000_000

// readInputFile reads a file of at most [maxInputFile] bytes, or stdin for "-". A file that cannot be read, or is larger, is a
// [usageError]. When ctx ends, so does the call; a read of stdin that is under way then is left to the end of the program.
func readInputFile(ctx context.Context, stdin io.Reader, path string) ([]byte, error) {
	from := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("%v", err)
		}
		defer f.Close()
		from = f
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // a read of a terminal cannot be cancelled: the goroutine is left to the end of the program
		data, err := io.ReadAll(io.LimitReader(from, maxInputFile+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		if r.err != nil {
			return nil, usagef("read %s: %v", path, r.err)
		}
		if len(r.data) > maxInputFile {
			return nil, usagef("%s is larger than %d bytes", path, maxInputFile)
		}
		return r.data, nil
	}
}
