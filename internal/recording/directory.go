package recording

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"clank/sessions"
)

// RunInfo describes a run without reading all of it.
type RunInfo struct {
	Task    string    `json:"task"`
	Session string    `json:"session"`
	Runtime string    `json:"runtime"`
	Prompt  string    `json:"prompt"`
	Private bool      `json:"private,omitempty"`
	Begun   time.Time `json:"begun"`

	Place sessions.Place `json:"-"` // in which the task was asked for
	User  string         `json:"-"` // the requester
}

// ListRuns returns the runs in a directory, newest first, without those that cannot be read. A missing directory has
// none.
func ListRuns(dir string) ([]RunInfo, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var list []RunInfo
	for _, n := range names {
		if info, ok := readRunInfo(filepath.Join(dir, n.Name())); ok && runIDPattern().MatchString(n.Name()) {
			info.Task = n.Name()
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b RunInfo) int { return b.Begun.Compare(a.Begun) })
	return list, nil
}

// readRunInfo reads the first line of a run.
func readRunInfo(dir string) (RunInfo, bool) {
	name := filepath.Join(dir, entriesFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return RunInfo{}, false
	}
	f, err := os.Open(name)
	if err != nil {
		return RunInfo{}, false
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 1<<20)).ReadBytes('\n')
	var e Entry
	if err != nil || json.Unmarshal(line, &e) != nil || e.Begin == nil {
		return RunInfo{}, false
	}
	t := e.Begin.Task
	return RunInfo{
		Session: e.Begin.Session, Runtime: e.Begin.Runtime, Prompt: t.Prompt, Private: t.Origin.Private, Begun: e.At,
		Place: t.Origin.Place(t.Origin.Private), User: t.Origin.User,
	}, true
}

// FindRuns returns the directories of the runs of a task or a session, oldest first. If there are none the error is
// [ErrRunNotFound].
func FindRuns(dir, id string) ([]string, error) {
	if !runIDPattern().MatchString(id) {
		return nil, fmt.Errorf("find the run %q: %w", id, ErrRunNotFound)
	}
	if _, err := os.Stat(filepath.Join(dir, id, entriesFile)); err == nil {
		return []string{filepath.Join(dir, id)}, nil
	}
	list, err := ListRuns(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, i := range slices.Backward(list) {
		if i.Session == id {
			found = append(found, filepath.Join(dir, i.Task))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("find the run %s: %w", id, ErrRunNotFound)
	}
	return found, nil
}

// ExportRun writes the bundle in a directory as a zip file. The export of a running task contains the entries so far.
func ExportRun(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("export the run: %w", err)
	}
	defer root.Close()
	z := zip.NewWriter(w)
	if err := addToZip(z, root.FS(), entriesFile, zip.Deflate, maxRun); err != nil {
		return fmt.Errorf("export the run: %w", err)
	}
	pictures, err := fs.ReadDir(root.FS(), imageDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("export the run: %w", err)
	}
	for _, p := range pictures {
		if !imageNamePattern().MatchString(p.Name()) {
			continue
		}
		err := addToZip(z, root.FS(), imageDir+"/"+p.Name(), zip.Store, maxPicture)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have been dropped meanwhile
			return fmt.Errorf("export the run: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("export the run: %w", err)
	}
	return nil
}

// Has reports whether the task was recorded.
func (r *Recorder) Has(task string) bool {
	_, err := os.Stat(filepath.Join(r.Dir, task, entriesFile))
	return err == nil && runIDPattern().MatchString(task)
}

// Export writes the bundle of a task as a zip file.
func (r *Recorder) Export(w io.Writer, task string) error {
	if !r.Has(task) {
		return fmt.Errorf("export the run %q: %w", task, ErrRunNotFound)
	}
	return ExportRun(w, filepath.Join(r.Dir, task))
}

func addToZip(z *zip.Writer, files fs.FS, name string, method uint16, limit int64) error {
	raw, err := readFile(files, name, limit)
	if err != nil {
		return err
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: time.Now()})
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

// PruningStore returns s wrapped so that pruning it also deletes the bundles.
func (r *Recorder) PruningStore(s sessions.Store) sessions.Store {
	return &pruningStore{Store: s, recorder: r}
}

type pruningStore struct {
	sessions.Store

	recorder *Recorder
}

func (s *pruningStore) Prune(ctx context.Context, before time.Time, keep, limit int) (int, error) {
	n, err := s.Store.Prune(ctx, before, keep, limit)
	if err != nil {
		return n, err
	}
	if err := s.recorder.prune(ctx, s.Store); err != nil {
		s.recorder.logger().Warn("old runs are not deleted", "err", err)
	}
	return n, nil
}

// prune deletes the bundles of tasks that the store no longer contains.
func (r *Recorder) prune(ctx context.Context, tasks sessions.TaskStore) error {
	names, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		id := n.Name()
		if !runIDPattern().MatchString(id) || r.Running(id) {
			continue
		}
		_, err := tasks.Task(ctx, id)
		switch {
		case err == nil:
		case !errors.Is(err, sessions.ErrNotFound):
			return err
		default:
			if err := os.RemoveAll(filepath.Join(r.Dir, id)); err != nil {
				return err
			}
		}
	}
	return nil
}
