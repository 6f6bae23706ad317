package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
	"clank/browsermgr/record"
)

// FileHost decides about uploads and downloads.
type FileHost interface {
	files.Host
	// Inbound returns the folder of the files attached to a session's tasks; see [files.UploadPolicy].
	Inbound(session string) string
	// Limits returns the maximum size of downloads and uploads in bytes; 0 means the default. It is called for each
	// connection.
	Limits() (download, upload int64)
}

// Features makes the observers of each browser: recorders, emulation, traces and files. Set its fields, and pass its
// Observe to browsermgr.Manager, before that is opened.
type Features struct {
	// Dir is the folder that holds downloads, uploads, traces and pictures. Required.
	Dir string
	// Host decides about files; nil applies the defaults.
	Host FileHost
	// Held reports that requests of browsers we did not start are intercepted elsewhere to be checked; see
	// emulate.Emulator.RequestsIntercepted.
	Held bool
	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger

	records record.Store
}

// Observe returns the observers of a connection to a profile's browser. local reports that we start the browser. The
// Manager closes them.
func (f *Features) Observe(name string, local bool) []page.Observer {
	log := cmp.Or(f.Logger, slog.New(slog.DiscardHandler))
	recorder := f.records.NewRecorder()
	tracer := record.NewTracer(filepath.Join(f.Dir, folderOf("traces", name)), recorder, log)
	world := emulate.New(log)
	world.RequestsIntercepted = f.Held && !local
	out := []page.Observer{recorder, tracer, world}
	downloads := f.folder("downloads")
	uploads := files.UploadPolicy{Folders: []string{f.folder("uploads")}}
	if own := folderOf("downloads", name); own != "downloads" { // only the profile's own tasks may find their downloads
		uploads.Others = downloads
		downloads = f.folder(own)
		uploads.Folders = append(uploads.Folders, downloads)
	}
	options := files.Options{
		Downloads: downloads, Uploads: uploads, ForeignBrowser: !local, Logger: log,
	}
	if f.Host != nil {
		options.Host, options.Uploads.Inbound = f.Host, f.Host.Inbound
		options.MaxBytes, options.MaxUpload = f.Host.Limits()
	}
	files, err := files.NewTransfers(options)
	if err != nil {
		log.Error("uploads and downloads are unavailable", "error", err)
		return out
	}
	return append(out, files)
}

// Routes lists the routes of Features. With a nil Features they are served as well, and answer that they are
// unavailable.
func (f *Features) Routes() []Route {
	return slices.Concat(recordRoutes(), stateRoutes(), storageRoutes(), fileRoutes(), f.traceRoutes())
}

// folderOf returns the folder, below Dir, for one kind of files of a profile: each place has its own.
func folderOf(kind, name string) string {
	if _, _, ok := profile.SplitInstance(name); ok {
		return filepath.Join(kind, name)
	}
	return kind
}

// folder returns a folder below Dir, creating it if necessary.
func (f *Features) folder(name string) string {
	dir := filepath.Join(f.Dir, name)
	_ = os.MkdirAll(dir, 0o700) // using it reports the error
	return dir
}

// outputPath returns the path of a file that a client requested: in one of our folders, with the given name or a new
// one. The file's folder must not be reached through links, and an existing file must be a regular one.
func (f *Features) outputPath(folder, given, prefix, suffix string) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	refuse := func(why string) (string, error) {
		return "", fault.Invalidf("Invalid path: must stay within %s directory: %s; leave the path out, or name a file in %s",
			folder, why, f.folder(folder))
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

// isWithin reports whether a path without links lies below folder.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// SavePicture writes a picture of a page of a profile to a new file, and returns its path. With a nil Features it
// fails.
func (f *Features) SavePicture(profileName, suffix string, data []byte) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	if err := f.checkRoom(int64(len(data))); err != nil {
		return "", err
	}
	path, err := f.outputPath(folderOf("pictures", profileName), "", "browser-", suffix)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the picture: %w", errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

func (f *Features) checkRoom(bytes int64) error {
	if f == nil || f.Host == nil {
		return nil
	}
	if err := f.Host.Room(bytes); err != nil {
		return &StatusError{Status: http.StatusInsufficientStorage, Err: err}
	}
	return nil
}

func fileRoutes() []Route {
	return []Route{
		NewRoute("POST", "/hooks/file-chooser", "Puts files into a file input, or into the next file chooser.",
			uploadFiles).WithBody(
			RequiredParam("paths", "array", "files below the uploads folder"),
			OptionalParam("ref", "string", "what opens the chooser"),
			OptionalParam("inputRef", "string", "the input, by its ref"),
			OptionalParam("element", "string", "the input, by a CSS selector"), tabParam(), timeoutParam(),
		),
		NewRoute("POST", "/wait/download", "Waits for the next download of the tab and saves it.", waitDownload).
			WithBody(OptionalParam("path", "string", "where, below the downloads folder"), tabParam(), timeoutParam()),
		NewRoute("POST", "/download", "Clicks what downloads something, or takes what the tab shows, and saves it.",
			downloadRef).
			WithBody(
				OptionalParam("ref", "string", "what to click; required without currentDocument"),
				OptionalParam("currentDocument", "boolean", "save what the tab shows"),
				OptionalParam("expectedUrl", "string", "currentDocument: the address that the tab has to show"),
				OptionalParam("path", "string", "where, below the downloads folder; required with ref"), tabParam(), timeoutParam(),
			),
	}
}

// fileTimeout returns the time limit of an upload or download.
func fileTimeout(c *Call) time.Duration {
	return c.Timeout(files.MaxTimeout, files.MinTimeout)
}

func uploadFiles(ctx context.Context, c *Call) (TargetAnswer, error) {
	u := files.UploadRequest{
		Paths: c.Body.Strings("paths"), Ref: c.Body.String("ref"), InputRef: c.Body.String("inputRef"),
		Element: c.Body.String("element"),
		Limit:   fileTimeout(c),
	}
	if len(u.Paths) == 0 {
		c.Body.Fail(fault.Invalidf("paths are required"))
	}
	h, err := c.TargetTab(ctx)
	if err != nil {
		return TargetAnswer{}, err
	}
	defer h.Release()
	u.Session, _ = c.Tabs.Manager.TabOwner(h.Tab.TargetID())
	switch {
	case u.Element != "":
		err = h.RefusePersonalBrowser("naming an input by a selector")
	case u.Ref == "" && u.InputRef == "":
		err = h.RefusePersonalBrowser("waiting for the next file chooser, which may be the person's")
	}
	if err != nil {
		return TargetAnswer{}, err
	}
	files, err := requireObserver[*files.Transfers](h, "uploading")
	if err != nil {
		return TargetAnswer{}, err
	}
	if err := files.Check(u); err != nil {
		return TargetAnswer{}, err
	}
	if err := c.Approver.ApproveFiles(ctx, h.Profile.Name, h.Tab, files.Names(u.Session, u.Paths)); err != nil {
		return TargetAnswer{}, err
	}
	if u.Ref == "" {
		return h.TargetAnswer(), files.Upload(ctx, h.Tab, u)
	}
	return h.TargetAnswer(), c.Approver.DoApproved(ctx, h.Profile.Name, h.Tab,
		page.Action{Kind: actiontable.KindClick, Ref: u.Ref}, func() error {
			return files.Upload(ctx, h.Tab, u)
		})
}

type downloadAnswer struct {
	TargetAnswer

	Download files.Download `json:"download"`
}

func waitDownload(ctx context.Context, c *Call) (downloadAnswer, error) {
	path, limit := c.Body.String("path"), fileTimeout(c)
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (files.Download, error) {
		return d.WaitDownload(ctx, h.Tab, path, limit)
	})
}

func downloadRef(ctx context.Context, c *Call) (downloadAnswer, error) {
	if c.Body.Flag("currentDocument", false) {
		return downloadDocument(ctx, c)
	}
	ref, path, limit := c.Body.Required("ref"), c.Body.Required("path"), fileTimeout(c)
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (got files.Download, err error) {
		if err := d.CheckTarget(path); err != nil {
			return got, err
		}
		err = h.Exclusively(ctx, func() error {
			return h.WithPolicy(ctx, func() error {
				return c.Approver.DoApproved(ctx, h.Profile.Name, h.Tab, page.Action{Kind: actiontable.KindClick, Ref: ref},
					func() error {
						got, err = d.Download(ctx, h.Tab, ref, path, limit)
						return err
					})
			})
		})
		return got, err
	})
}

// downloadDocument saves the tab's document.
func downloadDocument(ctx context.Context, c *Call) (downloadAnswer, error) {
	expected, path, limit := c.Body.Required("expectedUrl"), c.Body.String("path"), fileTimeout(c)
	if c.Body.Has("ref") {
		c.Body.Fail(fault.Invalidf("currentDocument and ref exclude one another"))
	}
	return withDownload(ctx, c, func(h *heldTab, d *files.Transfers) (got files.Download, err error) {
		scheme, _, _ := strings.Cut(h.URL(), ":")
		if scheme != "http" && scheme != "https" {
			return got, fmt.Errorf("%w: it shows no document of a server", files.ErrOtherDocument)
		}
		err = h.Exclusively(ctx, func() error {
			return h.WithPolicy(ctx, func() error {
				got, err = d.DownloadDocument(ctx, h.Tab, expected, path, limit)
				return err
			})
		})
		return got, err
	})
}

func withDownload(ctx context.Context, c *Call,
	get func(*heldTab, *files.Transfers) (files.Download, error),
) (downloadAnswer, error) {
	return withObserver(ctx, c, true, "downloading", func(h *heldTab, d *files.Transfers) (downloadAnswer, error) {
		got, err := get(h, d)
		return downloadAnswer{h.TargetAnswer(), got}, err
	})
}
