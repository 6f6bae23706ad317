package controltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fileCases returns the cases about downloads and uploads.
func fileCases() []testCase {
	escape := func(name, path string) requestCase {
		return requestCase{
			Name: name, Path: "/wait/download", Page: "/files", Body: m{"path": path, "timeoutMs": 500}, Status: 400,
			Contains: []string{"Invalid path: must stay within downloads directory"},
		}
	}
	return append(requestCases([]requestCase{
		escape("a path that climbs out", "../../escape.txt"),
		{
			Name: "an upload by two ways", Path: "/hooks/file-chooser", Page: "/files",
			Body: m{"paths": []string{"a"}, "ref": "e1", "inputRef": "e2"}, Status: 400,
		},
		{
			Name: "an upload from outside", Path: "/hooks/file-chooser", Page: "/files",
			Body: m{"paths": []string{"/etc/passwd"}, "element": "#one"}, Status: 400, Contains: []string{"Invalid path"},
		},
		{
			Name: "a download that does not come", Path: "/wait/download", Page: "/files", Body: m{"timeoutMs": 500},
			Status: 500, Reason: "timeout",
		},
	}),
		testCase{Name: "an action tells of its download", Run: actDownload},
		testCase{Name: "a download by ref", Run: refDownload},
		testCase{Name: "an address that is a file", Run: navigateDownload},
		testCase{Name: "an upload into a field", Run: uploadFile},
		testCase{Name: "an upload through the chooser", Run: uploadByClick},
	)
}

type downloadAnswer struct{ URL, SuggestedFilename, Path string }

// holds checks the saved file.
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

func actDownload(s *suite) {
	s.openPage("/files")
	var got struct{ Downloads []downloadAnswer }
	s.call("POST", "/act", m{"kind": "click", "selector": "#get"}, &got)
	if len(got.Downloads) != 1 {
		s.Fatalf("downloads: %+v", got.Downloads)
	}
	s.check(got.Downloads[0].holds("report.txt", "the report"))
}

func refDownload(s *suite) {
	s.openPage("/files")
	snap := s.snapshot("")
	link := s.ref(snap, "link", "Get the report")
	var got struct{ Download downloadAnswer }
	s.call("POST", "/download", m{"ref": link, "path": "mine.txt"}, &got)
	if filepath.Base(got.Download.Path) != "mine.txt" {
		s.Fatalf("saved as %s", got.Download.Path)
	}
	s.check(got.Download.holds("report.txt", "the report"))
}

func navigateDownload(s *suite) {
	s.openPage("/files")
	var got struct{ Download *downloadAnswer }
	s.call("POST", "/navigate", m{"url": s.Site.URL + "/file"}, &got)
	if got.Download == nil {
		s.Fatal("no download is told")
	}
	s.check(got.Download.holds("report.txt", "the report"))
}

// uploadCases creates files in the upload folder and uploads them.
func uploadCases(s *suite, names ...string) {
	dir := filepath.Join(s.Home, "uploads")
	s.check(os.MkdirAll(dir, 0o700))
	for _, name := range names {
		s.check(os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
}

func uploadFile(s *suite) {
	uploadCases(s, "a.txt", "b.txt")
	s.openPage("/files")
	body := m{"paths": []string{"a.txt", filepath.Join(s.Home, "uploads", "b.txt")}, "element": "#several"}
	s.call("POST", "/hooks/file-chooser", body, nil)
	s.waitForSaid("a.txt,b.txt")
}

func uploadByClick(s *suite) {
	uploadCases(s, "a.txt")
	s.openPage("/files")
	snap := s.snapshot("")
	button := s.ref(snap, "button", "Choose")
	s.call("POST", "/hooks/file-chooser", m{"paths": []string{"a.txt"}, "ref": button}, nil)
	s.waitForSaid("a.txt")
	// The same, armed in advance.
	s.openPage("/files")
	s.call("POST", "/hooks/file-chooser", m{"paths": []string{"a.txt"}}, nil)
	s.click("#choose")
	s.waitForSaid("a.txt")
	if _, err := os.Stat(filepath.Join(s.Home, "escape.txt")); err == nil || strings.Contains(s.Log(), "panic") {
		s.Fatal("something got out")
	}
}

// dialogCases returns the cases about alert, confirm and prompt: no request blocks on them, and nothing dismisses
// them automatically.
func dialogCases() []testCase {
	return append(requestCases([]requestCase{
		{
			Name: "an unknown dialog", Path: "/hooks/dialog", Page: "/dialogs", Body: m{"accept": true, "dialogId": "d99"},
			Status: 500, Contains: []string{"not pending"},
		},
	}),
		testCase{Name: "a click that opens one is left there", Run: blockedClick},
		testCase{Name: "a snapshot while one is open", Run: blockedSnapshot},
		testCase{Name: "prompt", Run: promptIsAnswered},
		testCase{Name: "an armed answer", Run: dialogAnsweredAhead},
		testCase{Name: "recent ones", Run: recentDialogs},
	)
}

type dialogState struct {
	OK              bool
	BlockedByDialog bool
	Snapshot        *string
	Refs            m
	BrowserState    struct {
		Dialogs struct {
			Pending, Recent []struct{ ID, Type, Message, DefaultValue, OpenedAt, ClosedAt, ClosedBy string }
		}
	}
}

// openDialog opens a dialog by a click, which must return at once and report it.
func openDialog(s *suite, button string) dialogState {
	var got dialogState
	s.openPage("/dialogs")
	s.call("POST", "/act", m{"kind": "click", "selector": button}, &got)
	if !got.OK || !got.BlockedByDialog || len(got.BrowserState.Dialogs.Pending) != 1 {
		s.Fatalf("the click answered %+v", got)
		return got
	}
	return got
}

func answerDialog(s *suite, body m) {
	s.call("POST", "/hooks/dialog", body, nil)
}

func blockedClick(s *suite) {
	got := openDialog(s, "#alert")
	d := got.BrowserState.Dialogs.Pending[0]
	if d.Type != "alert" || d.Message != "Are you there?" || d.OpenedAt == "" {
		s.Fatalf("dialog: %+v", d)
	}
	answerDialog(s, m{"accept": true, "dialogId": d.ID})
	s.waitForSaid("answered")
}

func blockedSnapshot(s *suite) {
	openDialog(s, "#confirm")
	var got dialogState
	s.call("GET", "/snapshot", nil, &got)
	if !got.BlockedByDialog || got.Snapshot == nil || *got.Snapshot != "" || len(got.Refs) > 0 ||
		len(got.BrowserState.Dialogs.Pending) != 1 {
		s.Fatalf("the snapshot answered %+v", got)
	}
	answerDialog(s, m{"accept": "no"})
	s.waitForSaid("false")
}

func promptIsAnswered(s *suite) {
	got := openDialog(s, "#prompt")
	if d := got.BrowserState.Dialogs.Pending[0]; d.DefaultValue != "nobody" {
		s.Fatalf("dialog: %+v", d)
	}
	answerDialog(s, m{"accept": true, "promptText": "Ada"})
	s.waitForSaid("Ada")
}

func dialogAnsweredAhead(s *suite) {
	s.openPage("/dialogs")
	for _, text := range []string{"first", "second"} {
		answerDialog(s, m{"accept": true, "promptText": text})
	}
	s.click("#prompt")
	s.waitForSaid("second")
}

func recentDialogs(s *suite) {
	openDialog(s, "#alert")
	answerDialog(s, m{"accept": true})
	s.waitUntil("the dialog among the recent ones", func() bool {
		var got dialogState
		s.call("GET", "/dialogs", nil, &got)
		recent := got.BrowserState.Dialogs.Recent
		if len(recent) == 0 {
			return false
		}
		last := recent[len(recent)-1]
		if last.ClosedBy != "agent" || last.ClosedAt == "" || len(got.BrowserState.Dialogs.Pending) > 0 {
			s.Fatalf("dialogs: %+v", got.BrowserState.Dialogs)
		}
		return true
	})
}
