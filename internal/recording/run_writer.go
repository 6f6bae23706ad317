package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/computeruse"
	"clank/internal/atomicfile"
	"clank/llm"
	"clank/sessions"
)

// runWriter writes a bundle.
type runWriter struct {
	recorder *Recorder
	limit    int64
	opened   time.Time

	mu          sync.Mutex
	dir         string
	file        *os.File      // nil after closing
	size        int64         // of all files of the bundle
	pictures    []keptImage   // oldest first
	jobs        chan imageJob // image files to write or remove, in order; adding blocks when it is full
	writerDone  chan struct{}
	knownImages map[string]bool
	broken      bool // writing failed, which has been logged
	full        bool
	dropped     int // images

	secrets       secretSet
	hidden        map[string]bool // refs of password fields
	typed         []typedText     // texts typed by the model's last answer
	messages      map[uint64]int  // numbers of messages by hash
	count         int             // number of messages
	tools         map[string]bool // hashes of written tool sets
	system        string
	systemWritten bool // whether system has been written
	state         uint64
	seed          maphash.Seed
}

// keptImage is an image in the bundle.
type keptImage struct {
	name string
	size int64
}

// imageJob writes an image file, or removes it if data is empty.
type imageJob struct {
	name string
	data []byte
}

// maxImageJobs is the number of images that may wait for the disk.
const maxImageJobs = 8

// typedText is a text that a model types with a tool into the element ref. For the keyboard, tool and ref are empty.
type typedText struct{ tool, ref, text string }

// open creates the directory, or continues an existing bundle after a crash or a change of runtime.
func (r *runWriter) open(dir, task string) error {
	r.seed = maphash.MakeSeed()
	r.knownImages, r.hidden = make(map[string]bool), make(map[string]bool)
	r.messages, r.tools = make(map[uint64]int), make(map[string]bool)
	if !runIDPattern().MatchString(task) {
		return fmt.Errorf("record the run: %q is no id", task)
	}
	r.dir = filepath.Join(dir, task)
	if err := os.MkdirAll(filepath.Join(r.dir, imageDir), 0o700); err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(r.dir, entriesFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	if err := r.resume(f); err != nil {
		f.Close()
		return fmt.Errorf("record the run: %w", err)
	}
	r.file, r.jobs, r.writerDone = f, make(chan imageJob, maxImageJobs), make(chan struct{})
	go r.writeImages(r.jobs, r.writerDone)
	return nil
}

// writeImages writes images until the run is closed. It runs separately because creating a file may take longer than
// recording the rest of a step.
func (r *runWriter) writeImages(jobs <-chan imageJob, idle chan<- struct{}) {
	defer close(idle)
	var failed error
	for j := range jobs {
		name := filepath.Join(r.dir, imageDir, j.name)
		var err error
		if j.data != nil {
			err = os.WriteFile(name, j.data, 0o600)
		} else if err = os.Remove(name); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err != nil && failed == nil {
			failed = err
			r.recorder.logger().Warn("picture of a run is not kept", "dir", r.dir, "err", err)
		}
	}
}

// resume counts the existing entries and removes an incomplete last line.
func (r *runWriter) resume(f *os.File) error {
	raw, err := io.ReadAll(f)
	if err != nil || len(raw) == 0 {
		return err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	r.size = int64(whole)
	r.count = bytes.Count(raw[:whole], []byte(`{"kind":"message",`))
	entries, err := os.ReadDir(filepath.Join(r.dir, imageDir))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			r.pictures = append(r.pictures, keptImage{e.Name(), info.Size()})
			r.knownImages[e.Name()] = true
			r.size += info.Size()
		}
	}
	return err
}

// write adds an entry.
func (r *runWriter) write(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(e)
}

// add adds an entry. The caller holds the lock.
func (r *runWriter) add(e Entry) {
	if r.file == nil || r.broken || (r.full && e.Kind != KindStep && e.Kind != KindEnd) {
		return
	}
	e.At = r.recorder.now().UTC()
	line, err := llm.MarshalJSON(e)
	if err != nil {
		r.fail(err)
		return
	}
	for _, word := range addressPasswords(line) {
		r.learnPassword(word)
	}
	line = r.secrets.redact(line)
	if r.recorder.Clean != nil {
		line = bytes.TrimSuffix(r.recorder.Clean(line), []byte("\n"))
	}
	line = append(line, '\n')
	r.dropOldImages(int64(len(line)))
	if _, err := r.file.Write(line); err != nil {
		r.fail(err)
		return
	}
	r.size += int64(len(line))
}

// fail stops the recording. The caller holds the lock.
func (r *runWriter) fail(err error) {
	r.broken = true
	r.recorder.logger().Warn("run is not recorded any further", "dir", r.dir, "err", err)
}

// keepImage writes an image and reports whether it is in the bundle. The caller holds the lock.
func (r *runWriter) keepImage(name string, data []byte) bool {
	switch {
	case r.file == nil || r.broken || r.full:
		return false
	case r.knownImages[name]:
		return true
	case r.recorder.DiskFull != nil && r.recorder.DiskFull():
		r.dropped++
		return false
	}
	size := int64(len(data))
	if r.dropOldImages(size); r.full {
		return false
	}
	r.jobs <- imageJob{name, data}
	r.knownImages[name] = true
	r.pictures = append(r.pictures, keptImage{name, size})
	r.size += size
	return true
}

// dropOldImages drops the oldest images until more bytes fit. The caller holds the lock.
func (r *runWriter) dropOldImages(more int64) {
	for r.size+more > r.limit && len(r.pictures) > 0 {
		old := r.pictures[0]
		r.jobs <- imageJob{name: old.name}
		r.pictures = r.pictures[1:]
		delete(r.knownImages, old.name)
		r.size -= old.size
		r.dropped++
	}
	r.full = r.full || r.size+more > r.limit
}

func (r *runWriter) close(e RunEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Dropped, e.Full = r.dropped, r.full
	r.add(Entry{Kind: KindEnd, Millis: milliseconds(r.recorder.now().Sub(r.opened)), End: &e})
	if r.file == nil {
		return
	}
	close(r.jobs)
	<-r.writerDone
	if err := r.file.Close(); err != nil && !r.broken {
		r.fail(err)
	}
	r.file = nil
}

// passwords returns the passwords that were typed so far.
func (r *runWriter) passwords() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.secrets.words
}

// observeStep examines a step. A masked one reveals which of the typed texts are passwords.
func (r *runWriter) observeStep(s sessions.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, word := range s.Secrets {
		r.learnPassword(word)
	}
	masked := bytes.Contains(s.Input, []byte(RedactedText)) || bytes.Contains([]byte(s.Label), []byte(RedactedText))
	if s.Kind == sessions.StepAct && masked {
		var input struct {
			Ref string `json:"ref"`
		}
		_ = json.Unmarshal(s.Input, &input) // without input, every text of that tool counts
		for _, t := range r.typed {
			if t.tool != "" && t.tool == s.Tool && (input.Ref == "" || input.Ref == t.ref) {
				r.learnPassword(t.text)
			}
		}
	}
	if s.Kind == sessions.StepAct && s.Phase == sessions.PhaseBegun &&
		(s.Tool == string(computeruse.ActType) || s.Tool == string(computeruse.ActFill)) {
		r.observeTyping(masked)
	}
	r.add(Entry{Kind: KindStep, Step: r.step(s)})
}

// observeTyping notes that the next of the keyboard texts was typed: they are typed in the order of the answer. The
// caller holds the lock.
func (r *runWriter) observeTyping(masked bool) {
	i := slices.IndexFunc(r.typed, func(t typedText) bool { return t.tool == "" })
	if i < 0 {
		return
	}
	text := r.typed[i].text
	r.typed = slices.Delete(r.typed, i, i+1)
	if !masked {
		return
	}
	r.learnPassword(text)
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\t\r\n", c) }) {
		r.learnPassword(part) // for several fields
	}
}

// learnPassword removes a password from what has been written, and from everything written later. The caller holds
// the lock.
func (r *runWriter) learnPassword(word string) {
	if !r.secrets.learn(word) || r.file == nil {
		return
	}
	if err := r.rewrite(); err != nil {
		// If the secret cannot be removed from the record, delete the record, which works even on a full disk.
		r.fail(errors.Join(err, r.file.Truncate(0), os.Remove(filepath.Join(r.dir, entriesFile))))
	}
}

// rewrite replaces the file with a redacted copy, completely or not at all.
func (r *runWriter) rewrite() error {
	name := filepath.Join(r.dir, entriesFile)
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	clean := r.secrets.redact(bytes.Clone(raw))
	if bytes.Equal(raw, clean) {
		return nil
	}
	if err := atomicfile.Write(name, clean); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	old := r.file
	r.file = f
	r.size += int64(len(clean) - len(raw))
	return old.Close()
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
