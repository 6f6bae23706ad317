package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/screenshot"
	"clank/browsermgr/record"
)

// Features makes what follows the tabs of each browser: recorders, emulation, traces and files. Its Observe is given to
// browsermgr.Manager before that is opened. Its fields are set before.
type Features struct {
	// Dir is the folder below which downloads, uploads, traces and pictures lie. Required.
	Dir string
	// Inbound holds files that people sent; "" means there is none.
	Inbound string
	// Held says that the requests of browsers that we did not start are held by somebody who judges them; see
	// emulate.Emulator.RequestsIntercepted.
	Held bool
	// Allowed, if set, says whether an address may be downloaded from. It must not block.
	Allowed func(url string) error
	// Approve, if set, is asked before a download is kept; see files.Options.Approve.
	Approve func(ctx context.Context, d files.Download) error
	// MaxDownload and MaxUpload, if set, are asked at each connection how many bytes files may have.
	MaxDownload, MaxUpload func() int64
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
}

// Observe makes the observers of a connection. local says that the browser is started by us. The Manager closes them.
func (f *Features) Observe(local bool) []page.Observer {
	log := cmp.Or(f.Logger, slog.New(slog.DiscardHandler))
	recorder := record.NewRecorder()
	tracer := record.NewTracer(f.folder("traces"), recorder, log)
	casts := screenshot.NewScreencasts(log)
	world := emulate.New(log)
	world.RequestsIntercepted = f.Held && !local
	out := []page.Observer{recorder, tracer, world, casts}
	options := files.Options{
		Downloads: f.folder("downloads"), Uploads: files.UploadPolicy{Folders: []string{f.folder("uploads")}, Inbound: f.Inbound},
		CheckURL: f.Allowed, Approve: f.Approve, ForeignBrowser: !local, Logger: log,
	}
	if f.MaxDownload != nil {
		options.MaxBytes = f.MaxDownload()
	}
	if f.MaxUpload != nil {
		options.MaxUpload = f.MaxUpload()
	}
	files, err := files.NewTransfers(options)
	if err != nil {
		log.Error("files of browsers cannot be moved", "error", err)
		return out
	}
	return append(out, files)
}

// Routes lists the routes of what follows tabs. Without Features they are served all the same, and say that they
// cannot.
func (f *Features) Routes() []Route {
	return slices.Concat(recordRoutes(), stateRoutes(), storageRoutes(), fileRoutes(), f.traceRoutes())
}

// folder returns a folder below Dir, which it creates if it is missing.
func (f *Features) folder(name string) string {
	dir := filepath.Join(f.Dir, name)
	_ = os.MkdirAll(dir, 0o700) // who uses it says why it cannot
	return dir
}

// outputPath returns where a file goes that a client asked for: below one of our folders, under the name given or a new
// one. The folder of the file has to be a real one in there, and what is replaced a plain file.
func (f *Features) outputPath(folder, given, prefix, suffix string) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	refuse := func(why string) (string, error) {
		return "", fault.Invalidf("Invalid path: must stay within %s directory: %s; leave the path out, or name a file in %s", folder, why, f.folder(folder))
	}
	root, err := filepath.EvalSymlinks(f.folder(folder))
	if err != nil {
		return "", err
	}
	if given == "" {
		return filepath.Join(root, prefix+rand.Text()+suffix), nil
	}
	path := given
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	path = filepath.Clean(path)
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return refuse("its folder is not there")
	}
	path = filepath.Join(parent, filepath.Base(path))
	if !isWithin(root, path) {
		return refuse(given)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return refuse("it is no plain file")
	}
	return path, nil
}

// isWithin says whether a path that has no links lies below the folder.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// SaveFile writes a file of ours under a new name into one of the folders below Dir, and returns its path. Without
// Features it is an error.
func (f *Features) SaveFile(folder, prefix, suffix string, data []byte) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	path, err := f.outputPath(folder, "", prefix, suffix)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the picture: %w", errors.Join(err, os.Remove(path)))
	}
	return path, nil
}
