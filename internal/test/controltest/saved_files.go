package controltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func sameNamedDownloads(s *suite) {
	var got struct{ Downloads []downloadAnswer }
	s.waitUntil("both files in the answer", func() bool { // a loaded machine may be too slow for one of them
		s.openPage("/drips")
		s.call("POST", "/act", m{"kind": "click", "selector": "#both"}, &got)
		return len(got.Downloads) == 2
	})
	if got.Downloads[0].Path == got.Downloads[1].Path {
		s.Fatalf("downloads %+v", got.Downloads)
	}
	for _, d := range got.Downloads {
		s.check(d.holds("twin.txt", "from a blob"))
	}
}

func unnamedDownload(s *suite) {
	s.openPage("/files")
	came := startWaiter(s, m{})
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case got := <-came:
			if got.err != nil || got.status != 200 || !strings.Contains(got.body, `-report.txt"`) || !strings.Contains(got.body, filepath.Join(s.Home, "downloads")) {
				s.Fatalf("the waiter: %+v", got)
			}
			return
		case <-tick.C:
			s.click("#get")
		}
	}
}

func hostileNames(s *suite) {
	s.openPage("/plain")
	root := filepath.Join(s.Home, "downloads") + string(filepath.Separator)
	for _, name := range []string{"../../evil.txt", `..\..\evil.txt`, "..", ".", "a/b/c.txt", "tab\tand\x01bell.txt", strings.Repeat("n", 300) + ".txt", " ", "con.txt"} {
		s.openPage("/plain")
		var got struct{ Downloads []downloadAnswer }
		script := fmt.Sprintf("const a = document.createElement('a'); a.download = %q; a.href = URL.createObjectURL(new Blob(['x'])); a.click(); 1", name)
		s.call("POST", "/act", m{"kind": "evaluate", "fn": script}, &got)
		if len(got.Downloads) != 1 {
			s.Fatalf("%.40q: downloads %+v", name, got.Downloads)
		}
		path := got.Downloads[0].Path
		if !strings.HasPrefix(path, root) || strings.Contains(path[len(root):], "/") || len(filepath.Base(path)) > 240 || strings.ContainsAny(path, "\t\x01\\") {
			s.Fatalf("%.40q was saved as %s", name, path)
		}
	}
}

// refusedPaths checks the paths that are refused before anything is asked for.
func refusedPaths(s *suite) {
	root := filepath.Join(s.Home, "downloads")
	outside := filepath.Join(s.Temp, "outside.txt")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "folder"), 0o700), os.WriteFile(outside, []byte("mine"), 0o600),
		os.Symlink(outside, filepath.Join(root, "link.txt")), os.Link(outside, filepath.Join(root, "hard.txt")), os.Symlink(s.Temp, filepath.Join(root, "linked")),
	} {
		if err != nil && !errors.Is(err, os.ErrExist) {
			s.check(err)
		}
	}
	link := s.refOn("/files", "link", "Get the report")
	hits := s.Site.Hits("/file")
	for _, path := range []string{"../x.txt", outside, "link.txt", "hard.txt", "linked/x.txt", "folder", "nosuch/x.txt/y", "folder/../../x.txt", "/", "."} {
		s.send(requestCase{Path: "/download", Body: m{"ref": link, "path": path}, Status: 400, Contains: []string{"Invalid path: must stay within downloads directory"}})
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "mine" {
		s.Fatalf("the file outside holds %q, %v", data, err)
	}
	s.wantEqual("requests of the file", s.Site.Hits("/file"), hits)
}

func replacedFile(s *suite) {
	path := filepath.Join(s.Home, "downloads", "mine.txt")
	s.check(os.WriteFile(path, []byte("older"), 0o600))
	refDownload(s)
}
