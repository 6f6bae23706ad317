package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// files are what comes out of a page and what goes into it.
func files() []check {
	type m = map[string]any
	escape := func(name, path string) exchange {
		return exchange{
			name: name, path: "/wait/download", page: "/files", body: m{"path": path, "timeoutMs": 500}, status: 400,
			says: []string{"Invalid path: must stay within downloads directory"},
		}
	}
	return append(checks([]exchange{
		{name: "a download without a ref", path: "/download", body: m{"path": "x.txt"}, status: 400, says: []string{"ref is required"}},
		{name: "a download without a path", path: "/download", body: m{"ref": "e1"}, status: 400, says: []string{"path is required"}},
		escape("a path that climbs out", "../../escape.txt"),
		escape("an absolute path elsewhere", "/etc/escape.txt"),
		{name: "an upload without files", path: "/hooks/file-chooser", body: m{"paths": []string{}}, status: 400, says: []string{"paths"}},
		{name: "an upload by two ways", path: "/hooks/file-chooser", page: "/files", body: m{"paths": []string{"a"}, "ref": "e1", "inputRef": "e2"}, status: 400},
		{name: "an upload from outside", path: "/hooks/file-chooser", page: "/files", body: m{"paths": []string{"/etc/passwd"}, "element": "#one"}, status: 400, says: []string{"Invalid path"}},
		{name: "an upload of what is not there", path: "/hooks/file-chooser", page: "/files", body: m{"paths": []string{"nosuch.txt"}, "element": "#one"}, status: 400},
		{name: "a download that does not come", path: "/wait/download", page: "/files", body: m{"timeoutMs": 500}, status: 500},
	}),
		check{"an action tells of its download", actDownload},
		check{"a download by ref", refDownload},
		check{"a download of data in the page", blobDownload},
		check{"an address that is a file", navigateDownload},
		check{"equal names get two paths", twoDownloads},
		check{"an upload into a field", upload},
		check{"an upload through the chooser", uploadByClick},
	)
}

type download struct{ URL, SuggestedFilename, Path string }

// holds checks what was saved.
func (d download) holds(name, content string) error {
	data, err := os.ReadFile(d.Path)
	if err != nil {
		return err
	}
	if d.SuggestedFilename != name || string(data) != content {
		return fmt.Errorf("download %+v holds %q", d, data)
	}
	return nil
}

func actDownload(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Downloads []download }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#get"}, &got); err != nil {
		return err
	}
	if len(got.Downloads) != 1 {
		return fmt.Errorf("downloads: %+v", got.Downloads)
	}
	return got.Downloads[0].holds("report.txt", "the report")
}

func refDownload(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	link, err := snap.ref("link", "Get the report")
	if err != nil {
		return err
	}
	var got struct{ Download download }
	if err := s.Call(ctx, "POST", "/download", map[string]any{"ref": link, "path": "mine.txt"}, &got); err != nil {
		return err
	}
	if filepath.Base(got.Download.Path) != "mine.txt" {
		return fmt.Errorf("saved as %s", got.Download.Path)
	}
	return got.Download.holds("report.txt", "the report")
}

func blobDownload(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Downloads []download }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#blob"}, &got); err != nil {
		return err
	}
	if len(got.Downloads) != 1 {
		return fmt.Errorf("downloads: %+v", got.Downloads)
	}
	return got.Downloads[0].holds("blob.txt", "from a blob")
}

func navigateDownload(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Download *download }
	if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": s.site.URL + "/file"}, &got); err != nil {
		return err
	}
	if got.Download == nil {
		return errors.New("no download is told")
	}
	return got.Download.holds("report.txt", "the report")
}

func twoDownloads(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for range 2 {
		var got struct{ Downloads []download }
		if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#get"}, &got); err != nil {
			return err
		}
		for _, d := range got.Downloads {
			seen[d.Path] = true
		}
	}
	return same("paths", len(seen), 2)
}

// uploads makes files where uploads may come from.
func (s *suite) uploads(names ...string) error {
	dir := filepath.Join(s.Home, "uploads")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func upload(ctx context.Context, s *suite) error {
	if err := s.uploads("a.txt", "b.txt"); err != nil {
		return err
	}
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	body := map[string]any{"paths": []string{"a.txt", filepath.Join(s.Home, "uploads", "b.txt")}, "element": "#several"}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", body, nil); err != nil {
		return err
	}
	return s.says(ctx, "a.txt,b.txt")
}

func uploadByClick(ctx context.Context, s *suite) error {
	if err := s.uploads("a.txt"); err != nil {
		return err
	}
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	button, err := snap.ref("button", "Choose")
	if err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"a.txt"}, "ref": button}, nil); err != nil {
		return err
	}
	if err := s.says(ctx, "a.txt"); err != nil {
		return err
	}
	// The same, armed in advance.
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"a.txt"}}, nil); err != nil {
		return err
	}
	if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "#choose"}); err != nil {
		return err
	}
	if err := s.says(ctx, "a.txt"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Home, "escape.txt")); err == nil || strings.Contains(s.Log(), "panic") {
		return errors.New("something got out")
	}
	return nil
}
