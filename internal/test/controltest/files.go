package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fileCases are what comes out of a page and what goes into it.
func fileCases() []testCase {
	type m = map[string]any
	escape := func(name, path string) requestCase {
		return requestCase{
			Name: name, Path: "/wait/download", Page: "/files", Body: m{"path": path, "timeoutMs": 500}, Status: 400,
			Contains: []string{"Invalid path: must stay within downloads directory"},
		}
	}
	return append(requestCases([]requestCase{
		{Name: "a download without a ref", Path: "/download", Body: m{"path": "x.txt"}, Status: 400, Contains: []string{"ref is required"}},
		{Name: "a download without a path", Path: "/download", Body: m{"ref": "e1"}, Status: 400, Contains: []string{"path is required"}},
		escape("a path that climbs out", "../../escape.txt"),
		escape("an absolute path elsewhere", "/etc/escape.txt"),
		{Name: "an upload without files", Path: "/hooks/file-chooser", Body: m{"paths": []string{}}, Status: 400, Contains: []string{"paths"}},
		{Name: "an upload by two ways", Path: "/hooks/file-chooser", Page: "/files", Body: m{"paths": []string{"a"}, "ref": "e1", "inputRef": "e2"}, Status: 400},
		{Name: "an upload from outside", Path: "/hooks/file-chooser", Page: "/files", Body: m{"paths": []string{"/etc/passwd"}, "element": "#one"}, Status: 400, Contains: []string{"Invalid path"}},
		{Name: "an upload of what is not there", Path: "/hooks/file-chooser", Page: "/files", Body: m{"paths": []string{"nosuch.txt"}, "element": "#one"}, Status: 400},
		{Name: "a download that does not come", Path: "/wait/download", Page: "/files", Body: m{"timeoutMs": 500}, Status: 500},
	}),
		testCase{Name: "an action tells of its download", Run: actDownload},
		testCase{Name: "a download by ref", Run: refDownload},
		testCase{Name: "a download of data in the page", Run: blobDownload},
		testCase{Name: "an address that is a file", Run: navigateDownload},
		testCase{Name: "equal names get two paths", Run: twoDownloads},
		testCase{Name: "an upload into a field", Run: uploadFile},
		testCase{Name: "an upload through the chooser", Run: uploadByClick},
	)
}

type downloadAnswer struct{ URL, SuggestedFilename, Path string }

// holds checks what was saved.
func (d downloadAnswer) holds(name, content string) error {
	data, err := os.ReadFile(d.Path)
	if err != nil {
		return err
	}
	if d.SuggestedFilename != name || string(data) != content {
		return fmt.Errorf("download %+v holds %q", d, data)
	}
	return nil
}

func actDownload(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Downloads []downloadAnswer }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#get"}, &got); err != nil {
		return err
	}
	if len(got.Downloads) != 1 {
		return fmt.Errorf("downloads: %+v", got.Downloads)
	}
	return got.Downloads[0].holds("report.txt", "the report")
}

func refDownload(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	link, err := snap.Ref("link", "Get the report")
	if err != nil {
		return err
	}
	var got struct{ Download downloadAnswer }
	if err := s.Call(ctx, "POST", "/download", map[string]any{"ref": link, "path": "mine.txt"}, &got); err != nil {
		return err
	}
	if filepath.Base(got.Download.Path) != "mine.txt" {
		return fmt.Errorf("saved as %s", got.Download.Path)
	}
	return got.Download.holds("report.txt", "the report")
}

func blobDownload(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Downloads []downloadAnswer }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#blob"}, &got); err != nil {
		return err
	}
	if len(got.Downloads) != 1 {
		return fmt.Errorf("downloads: %+v", got.Downloads)
	}
	return got.Downloads[0].holds("blob.txt", "from a blob")
}

func navigateDownload(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	var got struct{ Download *downloadAnswer }
	if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": s.Site.URL + "/file"}, &got); err != nil {
		return err
	}
	if got.Download == nil {
		return errors.New("no download is told")
	}
	return got.Download.holds("report.txt", "the report")
}

func twoDownloads(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for range 2 {
		var got struct{ Downloads []downloadAnswer }
		if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#get"}, &got); err != nil {
			return err
		}
		for _, d := range got.Downloads {
			seen[d.Path] = true
		}
	}
	return wantEqualJSON("paths", len(seen), 2)
}

// uploadCases makes files where uploads may come from.
func uploadCases(s *controlSuite, names ...string) error {
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

func uploadFile(ctx context.Context, s *controlSuite) error {
	if err := uploadCases(s, "a.txt", "b.txt"); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	body := map[string]any{"paths": []string{"a.txt", filepath.Join(s.Home, "uploads", "b.txt")}, "element": "#several"}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", body, nil); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "a.txt,b.txt")
}

func uploadByClick(ctx context.Context, s *controlSuite) error {
	if err := uploadCases(s, "a.txt"); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	button, err := snap.Ref("button", "Choose")
	if err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"a.txt"}, "ref": button}, nil); err != nil {
		return err
	}
	if err := s.waitForSaid(ctx, "a.txt"); err != nil {
		return err
	}
	// The same, armed in advance.
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"a.txt"}}, nil); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#choose"}); err != nil {
		return err
	}
	if err := s.waitForSaid(ctx, "a.txt"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Home, "escape.txt")); err == nil || strings.Contains(s.Log(), "panic") {
		return errors.New("something got out")
	}
	return nil
}
