package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func sameNamedDownloads(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/drips"); err != nil {
		return err
	}
	var got struct{ Downloads []downloadAnswer }
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": "#both"}, &got); err != nil {
		return err
	}
	if len(got.Downloads) != 2 || got.Downloads[0].Path == got.Downloads[1].Path {
		return fmt.Errorf("downloads %+v", got.Downloads)
	}
	for _, d := range got.Downloads {
		if err := d.holds("twin.txt", "from a blob"); err != nil {
			return err
		}
	}
	return nil
}

func unnamedDownload(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	came := startWaiter(ctx, s, map[string]any{})
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case got := <-came:
			if got.err != nil || got.status != 200 || !strings.Contains(got.body, `-report.txt"`) || !strings.Contains(got.body, filepath.Join(s.Home, "downloads")) {
				return fmt.Errorf("the waiter: %+v", got)
			}
			return nil
		case <-tick.C:
			if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#get"}); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func hostileNames(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	root := filepath.Join(s.Home, "downloads") + string(filepath.Separator)
	for _, name := range []string{"../../evil.txt", `..\..\evil.txt`, "..", ".", "a/b/c.txt", "tab\tand\x01bell.txt", strings.Repeat("n", 300) + ".txt", " ", "con.txt"} {
		if err := s.openPage(ctx, "/plain"); err != nil {
			return err
		}
		var got struct{ Downloads []downloadAnswer }
		script := fmt.Sprintf("const a = document.createElement('a'); a.download = %q; a.href = URL.createObjectURL(new Blob(['x'])); a.click(); 1", name)
		if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "evaluate", "fn": script}, &got); err != nil {
			return err
		}
		if len(got.Downloads) != 1 {
			return fmt.Errorf("%.40q: downloads %+v", name, got.Downloads)
		}
		path := got.Downloads[0].Path
		if !strings.HasPrefix(path, root) || strings.Contains(path[len(root):], "/") || len(filepath.Base(path)) > 240 || strings.ContainsAny(path, "\t\x01\\") {
			return fmt.Errorf("%.40q was saved as %s", name, path)
		}
	}
	return nil
}

// refusedPaths are paths that are refused, before anything is asked for.
func refusedPaths(ctx context.Context, s *controlSuite) error {
	root := filepath.Join(s.Home, "downloads")
	outside := filepath.Join(s.Temp, "outside.txt")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "folder"), 0o700), os.WriteFile(outside, []byte("mine"), 0o600),
		os.Symlink(outside, filepath.Join(root, "link.txt")), os.Link(outside, filepath.Join(root, "hard.txt")), os.Symlink(s.Temp, filepath.Join(root, "linked")),
	} {
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	snap, err := s.SnapshotOf(ctx, "/files", "")
	if err != nil {
		return err
	}
	link, err := snap.Ref("link", "Get the report")
	if err != nil {
		return err
	}
	hits := s.Site.Hits("/file")
	for _, path := range []string{"../x.txt", outside, "link.txt", "hard.txt", "linked/x.txt", "folder", "nosuch/x.txt/y", "folder/../../x.txt", "/", "."} {
		err := requestCase{Path: "/download", Body: map[string]any{"ref": link, "path": path}, Status: 400, Contains: []string{"Invalid path: must stay within downloads directory"}}.Run(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "mine" {
		return fmt.Errorf("the file outside holds %q, %w", data, err)
	}
	return wantEqualJSON("requests of the file", s.Site.Hits("/file"), hits)
}

func replacedFile(ctx context.Context, s *controlSuite) error {
	path := filepath.Join(s.Home, "downloads", "mine.txt")
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		return err
	}
	return refDownload(ctx, s)
}
