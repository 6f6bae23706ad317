package server

import (
	"context"

	"clank/browsermgr/page/files"
	"clank/sessions"
)

// fileHost makes the decisions about files of browsers. It implements [control.FileHost].
type fileHost struct{ server *Server }

// Approve implements [files.Host].
func (h fileHost) Approve(ctx context.Context, d files.Download) error {
	a := h.server
	if err := a.downloads.ApproveDownload(ctx, d); err != nil {
		return err
	}
	session, name := a.Browsers.TabOwner(d.Target)
	_, place := sessions.SplitProfile(name)
	return a.disk.Keep(session, place, d.Size)
}

// Saved implements [files.Host].
func (h fileHost) Saved(d files.Download) {
	session, _ := h.server.Browsers.TabOwner(d.Target)
	h.server.Sessions.AddDownload(session, sessions.File{
		Name: d.SuggestedFilename, Type: d.Type, Size: d.Size, Executable: d.Executable, Path: d.Path,
	})
}

// Room implements [files.Host].
func (h fileHost) Room(bytes int64) error { return h.server.disk.Room("", "", bytes) }

// CheckURL implements [files.Host].
func (h fileHost) CheckURL(url string) error { return h.server.CheckDownloadSource(url) }

// Inbound implements [control.FileHost].
func (h fileHost) Inbound(session string) string { return h.server.Inbox.Folder(session) }

// Limits implements [control.FileHost].
func (h fileHost) Limits() (download, upload int64) {
	b := h.server.Settings.Current().Browser
	return int64(b.MaxDownload) << 20, int64(b.MaxUpload) << 20
}
