package record

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the format names resources by SHA-1; security does not depend on it
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"clank/internal/atomicfile"
)

// Limits of a trace on disk for each kind of content, in bytes.
const (
	lineBudget  = 128 << 20
	frameBudget = 64 << 20
	bodyBudget  = 64 << 20

	// maxResources bounds the number of files in a trace.
	maxResources = 20_000
)

var (
	// errTraceFull is returned if a limit is reached.
	errTraceFull = errors.New("the trace is full")
	// errTraceEnded is returned after the trace has ended.
	errTraceEnded = errors.New("the trace has ended")
)

// traceSpool is a trace being written: the unfinished zip file, and the two files of lines that are added to it last.
// It is safe for concurrent use.
type traceSpool struct {
	dir string

	mu        sync.Mutex
	ended     bool
	file      *os.File
	zip       *zip.Writer
	lines     [2]*lineFile
	resources map[string]string // names by checksum
	budgets   map[string]int64  // bytes left, by kind
}

// lineFile is a file of JSON lines.
type lineFile struct {
	name string
	file *os.File
	buf  *bufio.Writer
}

// Indexes of the line files.
const (
	traceLines = iota
	networkLines
)

// newTraceSpool creates a new directory below dir.
func newTraceSpool(dir string) (*traceSpool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of traces: %w", err)
	}
	own, err := os.MkdirTemp(dir, ".trace-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the trace: %w", err)
	}
	s := &traceSpool{
		dir: own, resources: map[string]string{},
		budgets: map[string]int64{"lines": lineBudget, "frames": frameBudget, "bodies": bodyBudget},
	}
	open := func(name string) (file *os.File) {
		if err == nil {
			file, err = os.OpenFile(filepath.Join(own, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		}
		return file
	}
	s.file = open("zip")
	for i, name := range []string{"trace.trace", "trace.network"} {
		f := open(name)
		s.lines[i] = &lineFile{name: name, file: f, buf: bufio.NewWriter(f)}
	}
	if err != nil {
		s.discard()
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	s.zip = zip.NewWriter(s.file)
	return s, nil
}

func (s *traceSpool) addLine(which int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line of the trace: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.spend("lines", len(data)); err != nil {
		return err
	}
	_, err = s.lines[which].buf.Write(append(data, '\n'))
	return err
}

// spend subtracts from a budget. The caller holds s.mu.
func (s *traceSpool) spend(kind string, n int) error {
	if s.ended {
		return errTraceEnded
	}
	if s.budgets[kind] < int64(n) {
		return fmt.Errorf("%w: no room is left for %s", errTraceFull, kind)
	}
	s.budgets[kind] -= int64(n)
	return nil
}

// addResource adds a file, unless it is already there, and returns its name.
func (s *traceSpool) addResource(kind string, data []byte, extension string) (string, error) {
	sum := sha1.Sum(data) //nolint:gosec // see above
	key := hex.EncodeToString(sum[:]) + extension
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, ok := s.resources[key]; ok {
		return name, nil
	}
	if len(s.resources) == maxResources {
		return "", errTraceFull
	}
	if err := s.spend(kind, len(data)); err != nil {
		return "", err
	}
	name := "resources/" + key
	method := zip.Deflate
	if extension == ".jpeg" || extension == ".png" || extension == ".webp" || extension == ".woff2" {
		method = zip.Store
	}
	w, err := s.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	s.resources[key] = name
	return name, nil
}

// finish completes the zip file and moves it atomically to path. The spool cannot be used afterwards.
func (s *traceSpool) finish(ctx context.Context, path string) error {
	defer s.discard()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, l := range s.lines {
		w, err := s.zip.Create(l.name)
		if err == nil {
			err = l.buf.Flush()
		}
		if err == nil {
			err = copyFile(ctx, w, l.file)
		}
		if err != nil {
			return fmt.Errorf("write the trace: %w", err)
		}
	}
	if err := s.zip.Close(); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	if err := placeFile(ctx, s.file, path); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// placeFile copies the file to path through a temporary file next to it.
func placeFile(ctx context.Context, file *os.File, path string) error {
	out, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = out.Cleanup() }()
	if err := copyFile(ctx, out, file); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}

// copyFile copies a whole file until ctx ends.
func copyFile(ctx context.Context, to io.Writer, from *os.File) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(to, readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return from.Read(p)
	}))
	return err
}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// discard closes and removes the files. It may be called more than once.
func (s *traceSpool) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, l := range s.lines {
		if l != nil && l.file != nil {
			_ = l.file.Close()
		}
	}
	if s.file != nil {
		_ = s.file.Close()
	}
	_ = os.RemoveAll(s.dir)
}
