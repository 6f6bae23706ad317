//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"clank/sessions"
)

// checkFiles checks in advance that files can be read and downloads written.
func (f browseFlags) checkFiles() error {
	for _, path := range f.files {
		switch st, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return usagef("--file %s: there is no such file", path)
		case err != nil:
			return usagef("--file: %v", err)
		case !st.Mode().IsRegular():
			return usagef("--file %s: this is a directory or a device, not a file", path)
		}
	}
	if f.downloads == "" {
		return nil
	}
	if st, err := os.Stat(f.downloads); err != nil || !st.IsDir() {
		return usagef("--downloads %s: there is no such directory; make it first", f.downloads)
	}
	return nil
}

// sendFiles stores the files for the task.
func (f browseFlags) sendFiles(ctx context.Context, r taskRunner) (list []sessions.File, err error) {
	for _, path := range f.files {
		file, err := sendFile(ctx, r, path)
		if err != nil {
			return nil, fmt.Errorf("send %s: %w", path, err)
		}
		list = append(list, file)
	}
	return list, nil
}

func sendFile(ctx context.Context, r taskRunner, path string) (_ sessions.File, err error) {
	in, err := os.Open(path)
	if err != nil {
		return sessions.File{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return r.SendFile(ctx, filepath.Base(path), in)
}

// saveDownloads copies the downloads of a task to the requested directory, and returns the paths. It does not
// overwrite existing files.
func (f browseFlags) saveDownloads(ctx context.Context, r taskRunner,
	rec sessions.TaskRecord,
) (saved []string, err error) {
	if f.downloads == "" {
		return nil, nil
	}
	for _, d := range rec.Downloads {
		path, err := saveDownload(ctx, r, rec.ID, d, f.downloads)
		if err != nil {
			return saved, fmt.Errorf("keep %s: %w", d.Name, err)
		}
		saved = append(saved, path)
	}
	return saved, nil
}

func saveDownload(ctx context.Context, r taskRunner, taskID string, d sessions.File,
	dir string,
) (path string, err error) {
	in, err := r.Download(ctx, taskID, d)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := createNew(dir, filepath.Base(d.Name))
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(out, in); err != nil {
		return "", errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	return out.Name(), out.Close()
}

// createNew creates a file with this name, or with the first of "name (2)" and so on that does not exist.
func createNew(dir, name string) (*os.File, error) {
	ext := filepath.Ext(name)
	for n := 1; ; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path = filepath.Join(dir, strings.TrimSuffix(name, ext)+" ("+strconv.Itoa(n)+")"+ext)
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return out, err
		}
	}
}
