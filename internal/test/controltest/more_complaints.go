package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf16"
)

// stopBeside has a profile busy for good, stops it, and works in another meanwhile.
func stopBeside(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "busy"}, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/tabs/open?profile=busy", map[string]any{"url": s.Site.URL + "/plain"}, nil); err != nil {
		return err
	}
	hung := make(chan error, 1)
	go func() {
		_, err := s.Request(ctx, "POST", "/act?profile=busy", map[string]any{"kind": "evaluate", "fn": "fetch('/hit/busy'); for(;;);", "timeoutMs": 20000})
		hung <- err
	}()
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	begin := time.Now()
	if err := s.Call(ctx, "POST", "/stop?profile=busy", nil, nil); err != nil {
		return err
	}
	if err := <-hung; err != nil {
		return err
	}
	if err := (requestCase{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "document.title"}, Contains: []string{"Form"}}).Run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 15*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	return s.Call(ctx, "DELETE", "/profiles/busy", nil, nil)
}

func partsHaveRefs(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/parts", "interactive=true")
	if err != nil {
		return err
	}
	for _, name := range []string{"Search", "Listened to", "Told of by a script", "Reached by Tab", "Written in", "Pointed at", "Agreed", ""} {
		found := false
		for _, r := range snap.Refs {
			found = found || r.Name == name
		}
		if !found {
			return fmt.Errorf("nothing named %q has a ref:\n%s", name, snap.Snapshot)
		}
	}
	return nil
}

func shortLooks(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/many"); err != nil {
		return err
	}
	last := 1 << 20
	for _, query := range []string{"", "maxChars=20000", "mode=efficient", "query=edit%20777"} {
		snap, err := s.Snapshot(ctx, query)
		if err != nil {
			return err
		}
		n := len(utf16.Encode([]rune(snap.Snapshot)))
		if n >= last || n > 40_000 || n == 0 {
			return fmt.Errorf("%q: %d characters after %d", query, n, last)
		}
		last = n
	}
	return nil
}

// onlyAsked asks all there is to ask of the profile of the person's own browser, which does not run here.
func onlyAsked(ctx context.Context, s *controlSuite) error {
	before, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	if err != nil {
		return err
	}
	begin := time.Now()
	for _, path := range []string{"/?profile=user", "/tabs?profile=user", "/doctor?profile=user", "/profiles"} {
		if err := (requestCase{Path: path, Excludes: []string{`"running":true,"tabs"`}}).Run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	after, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	if err != nil {
		return err
	}
	return wantEqualJSON("folders of browsers", len(after), len(before))
}

// atOnce has two clients type and read in a tab each, at the same time.
func atOnce(ctx context.Context, s *controlSuite) error {
	ended := make(chan error)
	for _, who := range []string{"ada", "bea"} {
		go func() {
			t, err := s.NewTab(ctx, "/form", who)
			for i := 0; i < 5 && err == nil; i++ {
				text := fmt.Sprint(who, i)
				for _, action := range []map[string]any{
					{"kind": "type", "selector": "#name", "text": text, "targetId": who}, {"kind": "click", "selector": "#save", "targetId": who},
				} {
					if err == nil {
						_, err = s.Act(ctx, action)
					}
				}
				if err == nil {
					err = requestCase{
						Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "document.getElementById('name').value", "targetId": who}, Contains: []string{`"` + text + `"`, t.TargetID},
					}.Run(ctx, s)
				}
			}
			if err == nil {
				err = s.CloseTab(ctx, who)
			}
			ended <- err
		}()
	}
	return errors.Join(<-ended, <-ended)
}

func fileApart(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/apart"); err != nil {
		return err
	}
	got, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#get"})
	if err != nil {
		return err
	}
	list, _ := got["downloads"].([]any)
	if len(list) != 1 {
		return fmt.Errorf("downloads: %v", got["downloads"])
	}
	return s.closeOtherTabs(ctx)
}

// uploadNames names a file below the uploads folder through a link to that folder, relatively and absolutely.
func uploadNames(ctx context.Context, s *controlSuite) error {
	dir, way := filepath.Join(s.Home, "uploads"), filepath.Join(s.Temp, "way")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "named.txt"), []byte("x"), 0o600), os.Symlink(dir, way)); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	for _, name := range []string{"named.txt", "./named.txt", filepath.Join(dir, "named.txt"), filepath.Join(way, "named.txt")} {
		body := map[string]any{"paths": []string{name}, "element": "#one"}
		if err := s.Call(ctx, "POST", "/hooks/file-chooser", body, nil); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.waitForSaid(ctx, "named.txt"); err != nil {
			return err
		}
	}
	return os.Remove(way)
}

func headlessAsked(ctx context.Context, s *controlSuite) error {
	var status struct {
		Headless       bool
		HeadlessSource string
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/start?headless=true", nil, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	if !status.Headless || status.HeadlessSource != "request" {
		return fmt.Errorf("headless = %v by %s", status.Headless, status.HeadlessSource)
	}
	return nil
}
