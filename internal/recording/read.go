package recording

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"clank/sessions"
)

// Limits of a bundle, which protect against malicious files.
const (
	maxRun      = 48 << 20 // bytes of run.jsonl
	maxPicture  = 32 << 20 // bytes of one image
	maxPictures = 20_000
	maxAsked    = 20_000 // messages of one call
)

// ErrRunNotFound means that there is no such run.
var ErrRunNotFound = errors.New("there is no such run")

// Recording is a recorded run. It is not safe for concurrent use.
type Recording struct {
	Entries []Entry
	// Cut means that the record is incomplete: the task is still running, or the program crashed.
	Cut bool

	messages int // number of message entries
}

// OpenRecording reads the record of a run from a directory or a zip file.
func OpenRecording(name string) (*Recording, error) {
	b, err := readRecording(name)
	if err != nil {
		return nil, fmt.Errorf("open the run %s: %w", name, err)
	}
	return b, nil
}

func readRecording(name string) (*Recording, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrRunNotFound
	case err != nil:
		return nil, err
	case info.IsDir():
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return readEntries(root.FS())
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("%w (it must be a whole zip, as \"clank sessions export\" writes it)", err)
	}
	defer z.Close()
	if err := checkZip(&z.Reader); err != nil {
		return nil, err
	}
	return readEntries(z)
}

// checkZip rejects zip files that cannot be our exports.
func checkZip(z *zip.Reader) error {
	if len(z.File) > maxPictures+1 {
		return fmt.Errorf("it has %d files, more than any run", len(z.File))
	}
	seen := make(map[string]bool, len(z.File))
	for _, f := range z.File {
		dir, base := filepath.Split(f.Name)
		picture := dir == imageDir+"/" && imageNamePattern().MatchString(base)
		if (f.Name != entriesFile && !picture) || seen[f.Name] {
			return fmt.Errorf("it has a file %q, which is no part of a run", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

func readEntries(files fs.FS) (*Recording, error) {
	raw, err := readFile(files, entriesFile, maxRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it has no %s, so it is no run", entriesFile)
	}
	if err != nil {
		return nil, err
	}
	return ParseRecording(raw)
}

// ParseRecording parses the lines of a run.jsonl.
func ParseRecording(raw []byte) (*Recording, error) {
	b := &Recording{Cut: true}
	for n := 1; len(raw) > 0; n++ {
		line, rest, whole := bytes.Cut(raw, []byte("\n"))
		raw = rest
		if !whole {
			break // incomplete last line
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d of %s: %w", n, entriesFile, err)
		}
		if err := b.addEntry(e); err != nil {
			return nil, fmt.Errorf("line %d of %s: %w", n, entriesFile, err)
		}
		b.Cut = e.Kind != KindEnd
	}
	if len(b.Entries) == 0 {
		return nil, errors.New("nothing was recorded")
	}
	return b, nil
}

// addEntry checks an entry against the earlier ones and adds it.
func (b *Recording) addEntry(e Entry) error {
	if len(b.Entries) == 0 && (e.Kind != KindBegin || e.Begin == nil) {
		return errors.New("it does not begin as a run does")
	}
	set := map[EntryKind]bool{
		KindBegin: e.Begin != nil, KindTools: e.Tools != nil, KindMessage: e.Message != nil, KindCall: e.Call != nil,
		KindTurn:     e.Turn != nil,
		KindSnapshot: e.Snapshot != nil, KindAct: e.Act != nil, KindStep: e.Step != nil, KindEnd: e.End != nil,
	}
	if filled, known := set[e.Kind]; known && !filled {
		return fmt.Errorf("a %s that says nothing", e.Kind)
	}
	switch e.Kind { //nolint:exhaustive // other kinds need no checks
	case KindBegin:
		if e.Begin.Format != FormatVersion {
			return fmt.Errorf("its format is %d, and this program reads %d", e.Begin.Format, FormatVersion)
		}
	case KindMessage:
		b.messages++
	case KindCall:
		if len(e.Call.Messages) > maxAsked {
			return fmt.Errorf("a call has %d messages, more than any run", len(e.Call.Messages))
		}
		for _, m := range e.Call.Messages {
			if m < 0 || m >= b.messages {
				return fmt.Errorf("there is no message %d", m)
			}
		}
	}
	b.Entries = append(b.Entries, e)
	return nil
}

// Start returns the start of the run.
func (b *Recording) Start() RunStart { return *b.Entries[0].Begin }

// Steps returns the completed steps, in order.
func (b *Recording) Steps() []sessions.Step {
	var steps []sessions.Step
	for _, e := range b.Entries {
		if e.Kind == KindStep && e.Step.Phase == sessions.PhaseDone {
			steps = append(steps, *e.Step)
		}
	}
	return steps
}

// readFile reads a file of at most limit bytes, whatever size it claims.
func readFile(files fs.FS, name string, limit int64) ([]byte, error) {
	if info, err := fs.Stat(files, name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name) // reading a pipe would block
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%s is larger than %d MB, as no run is", name, limit>>20)
	}
	return raw, nil
}
