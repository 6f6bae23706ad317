package controltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf16"
)

// stopBeside has a profile busy for good, stops it, and works in another meanwhile.
func stopBeside(s *suite) {
	s.withProfile(m{"name": "busy"}, func(query string) {
		s.call("POST", "/tabs/open"+query, m{"url": s.Site.URL + "/plain"}, nil)
		hung := make(chan error, 1)
		ctx := s.ctx()
		go func() {
			_, err := s.Request(ctx, "POST", "/act"+query, m{"kind": "evaluate", "fn": "fetch('/hit/busy'); for(;;);", "timeoutMs": 20000})
			hung <- err
		}()
		s.openPage("/form")
		begin := time.Now()
		s.call("POST", "/stop"+query, nil, nil)
		s.check(<-hung)
		s.wantPage("document.title", "Form")
		s.wantWithin(15*time.Second, begin)
	})
}

func partsHaveRefs(s *suite) {
	snap := s.snapshotOf("/parts", "interactive=true")
	for _, name := range []string{"Search", "Listened to", "Told of by a script", "Reached by Tab", "Written in", "Pointed at", "Agreed", ""} {
		found := false
		for _, r := range snap.Refs {
			found = found || r.Name == name
		}
		if !found {
			s.Fatalf("nothing named %q has a ref:\n%s", name, snap.Snapshot)
		}
	}
}

func shortLooks(s *suite) {
	s.openPage("/many")
	last := 1 << 20
	for _, query := range []string{"", "maxChars=20000", "mode=efficient", "query=edit%20777"} {
		snap := s.snapshot(query)
		n := len(utf16.Encode([]rune(snap.Snapshot)))
		if n >= last || n > 40_000 || n == 0 {
			s.Fatalf("%q: %d characters after %d", query, n, last)
		}
		last = n
	}
}

// onlyAsked asks all there is to ask of the profile of the person's own browser, which does not run here.
func onlyAsked(s *suite) {
	before, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	s.check(err)
	begin := time.Now()
	for _, path := range []string{"/?profile=user", "/tabs?profile=user", "/doctor?profile=user", "/profiles"} {
		s.send(requestCase{Path: path, Excludes: []string{`"running":true,"tabs"`}})
	}
	s.wantWithin(10*time.Second, begin)
	after, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	s.check(err)
	s.wantEqual("folders of browsers", len(after), len(before))
}

// atOnce has two clients type and read in a tab each, at the same time.
func atOnce(s *suite) {
	for _, who := range []string{"ada", "bea"} {
		s.Run(who, func(t *testing.T) {
			s := *s
			s.T = t
			t.Parallel()
			id := s.newTab("/form", who).TargetID
			for i := range 5 {
				text := fmt.Sprint(who, i)
				s.act(m{"kind": "type", "selector": "#name", "text": text, "targetId": who})
				s.act(m{"kind": "click", "selector": "#save", "targetId": who})
				look := m{"kind": "evaluate", "fn": "document.getElementById('name').value", "targetId": who}
				s.send(requestCase{Path: "/act", Body: look, Contains: []string{`"` + text + `"`, id}})
			}
			s.closeTab(who)
		})
	}
}

func fileApart(s *suite) {
	s.waitUntil("the file in the answer", func() bool { // a loaded machine may be too slow at first
		s.openPage("/apart")
		list, _ := s.click("#get")["downloads"].([]any)
		return len(list) == 1
	})
	s.closeOtherTabs()
}

// uploadNames names a file below the uploads folder through a link to that folder, relatively and absolutely.
func uploadNames(s *suite) {
	dir, way := filepath.Join(s.Home, "uploads"), filepath.Join(s.Temp, "way")
	s.check(errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "named.txt"), []byte("x"), 0o600), os.Symlink(dir, way)))
	s.openPage("/files")
	for _, name := range []string{"named.txt", "./named.txt", filepath.Join(dir, "named.txt"), filepath.Join(way, "named.txt")} {
		body := m{"paths": []string{name}, "element": "#one"}
		s.call("POST", "/hooks/file-chooser", body, nil)
		s.waitForSaid("named.txt")
	}
	s.check(os.Remove(way))
}

func headlessAsked(s *suite) {
	var status struct {
		Headless       bool
		HeadlessSource string
	}
	s.call("POST", "/stop", nil, nil)
	s.call("POST", "/start?headless=true", nil, nil)
	s.call("GET", "/", nil, &status)
	if !status.Headless || status.HeadlessSource != "request" {
		s.Fatalf("headless = %v by %s", status.Headless, status.HeadlessSource)
	}
}
