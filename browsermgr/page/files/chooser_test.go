package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	pagefiles "clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// give puts files into the uploads folder.
func (b *transferFixture) give(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		check.Must(tb, os.WriteFile(filepath.Join(b.uploads, name), []byte("text of "+name), 0o600))
	}
}

// chosen returns an expression for the files of a file input.
func chosen(id string) string {
	return fmt.Sprintf("[...(document.getElementById('%[1]s') ?? box.shadowRoot.getElementById('%[1]s')).files].map((f) "+
		"=> f.name).sort().join()", id)
}

func TestFilesAreSetDirectly(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt", "b.txt")
	tab := b.tab(t, s.URL+"/upload")
	many := refOf(t, tab, "Many")
	for _, tt := range []struct {
		upload pagefiles.UploadRequest
		id     string
		want   string
	}{
		{pagefiles.UploadRequest{Element: "#one", Paths: []string{"a.txt"}}, "one", `"a.txt"`},
		{
			pagefiles.UploadRequest{InputRef: many, Paths: []string{"a.txt", filepath.Join(b.uploads, "b.txt")}},
			"many",
			`"a.txt,b.txt"`,
		},
		{pagefiles.UploadRequest{Element: "#hidden", Paths: []string{"b.txt"}}, "hidden", `"b.txt"`},
		// a label of a hidden one
		{pagefiles.UploadRequest{Ref: refOf(t, tab, "CV"), Paths: []string{"a.txt"}}, "cv", `"a.txt"`},
		{pagefiles.UploadRequest{Element: "#inner", Paths: []string{"b.txt"}}, "inner", `"b.txt"`},
		{pagefiles.UploadRequest{Element: "#folder", Paths: []string{"a.txt", "b.txt", "a.txt"}}, "folder", `"a.txt,a.txt,b.txt"`},
		{pagefiles.UploadRequest{Ref: refOf(t, tab, "ChooseFolder"), Paths: []string{"a.txt"}}, "folder", `"a.txt"`},
	} {
		if err := b.Upload(t.Context(), tab, tt.upload); err != nil {
			t.Errorf("%+v: %v", tt.upload, err)
			continue
		}
		check.Equal(t, fmt.Sprint(tt.upload), browsertest.JS(t, tab, chosen(tt.id)), tt.want)
	}
	browsertest.WantJS(t, tab, "seen.join()", `"input,change"`)
	browsertest.WantJS(t, tab, "document.getElementById('folder').files[0].webkitRelativePath", `"files/a.txt"`)
	browsertest.WantJS(t, tab, "async () => await document.getElementById('one').files[0].text()", `"text of a.txt"`)
}

func TestUploadSaysWhatIsWrong(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt", "b.txt")
	tab := b.tab(t, s.URL+"/upload")
	a, two := []string{"a.txt"}, []string{"a.txt", "b.txt"}
	removed := refOf(t, tab, "Soon")
	browsertest.JS(t, tab, "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Soon').remove()")
	for _, tt := range []struct {
		upload pagefiles.UploadRequest
		is     error
		want   string
	}{
		{pagefiles.UploadRequest{}, page.ErrInvalid, "paths are required"},
		{pagefiles.UploadRequest{Paths: a, Ref: "e1", InputRef: "e2"}, page.ErrInvalid, "cannot be combined"},
		{pagefiles.UploadRequest{Paths: a, Ref: "e1", Element: "a"}, page.ErrInvalid, "cannot be combined"},
		{pagefiles.UploadRequest{Paths: a, InputRef: "e1", Element: "a"}, page.ErrInvalid, "exclude one another"},
		{pagefiles.UploadRequest{Paths: []string{"../a.txt"}, Element: "#one"}, page.ErrInvalid, "Invalid path"},
		{pagefiles.UploadRequest{Paths: a, InputRef: "e999"}, page.ErrUnknownRef, "no snapshot of this page has it"},
		{pagefiles.UploadRequest{Paths: a, Ref: "e999"}, page.ErrUnknownRef, "no snapshot of this page has it"},
		{pagefiles.UploadRequest{Paths: a, Ref: removed}, page.ErrUnknownRef, "gone from the page"},
		{pagefiles.UploadRequest{Paths: a, Element: "#nothing"}, nil, "not found"},
		{pagefiles.UploadRequest{Paths: a, Element: "button"}, page.ErrNotInteractable, "not a file input"},
		{pagefiles.UploadRequest{Paths: a, Element: "#off"}, page.ErrNotInteractable, "disabled"},
		{pagefiles.UploadRequest{Paths: two, Element: "#one"}, page.ErrNotInteractable, "one file only, got 2"},
		{pagefiles.UploadRequest{Paths: two, Ref: refOf(t, tab, "Choose")}, nil, "one file only, got 2"},
		{
			pagefiles.UploadRequest{Paths: a, Ref: refOf(t, tab, "Nothing")},
			page.ErrNotInteractable,
			`opened no file chooser (not interactable): give the files to a file input of the page instead: `,
		},
		{pagefiles.UploadRequest{Paths: a, Ref: refOf(t, tab, "Alert")}, nil, `"wait"`},
	} {
		// An upload gives up on a click that opens no chooser long before this.
		err := b.Upload(browsertest.Within(t, 40*time.Second), tab, tt.upload)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.upload, err, tt.want)
		}
		if b.ChooserArmed(tab) {
			t.Errorf("%+v: still armed", tt.upload)
		}
	}
}

func TestChooserOfAClickIsFilled(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt", "b.txt")
	tab := b.tab(t, s.URL+"/upload")
	for name, want := range map[string]struct{ id, files string }{
		"Choose": {"hidden", "a.txt"}, "Soon": {"hidden", "b.txt"}, "ChooseMany": {"many", "a.txt,b.txt"},
	} {
		err := b.Upload(t.Context(), tab,
			pagefiles.UploadRequest{Ref: refOf(t, tab, name), Paths: strings.Split(want.files, ",")})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := browsertest.JS(t, tab, chosen(want.id)); got != `"`+want.files+`"` {
			t.Errorf("%s: got %s, want %s", name, got, want.files)
		}
	}
}

func TestArmedFilesGoToTheNextChooserOfTheirTab(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt", "b.txt", "c.txt")
	first, second := b.tab(t, s.URL+"/upload"), b.tab(t, s.URL+"/upload")
	for tab, files := range map[*page.Tab][]string{first: {"a.txt", "b.txt"}, second: {"c.txt"}} {
		for _, file := range files { // the last arm wins
			check.Must(t, b.Upload(t.Context(), tab, pagefiles.UploadRequest{Paths: []string{file}}))
		}
	}
	for tab, want := range map[*page.Tab]string{first: `"b.txt"`, second: `"c.txt"`} {
		b.press(t, tab, "Choose")
		browsertest.Eventually(t, "the file", func() bool { return browsertest.JS(t, tab, chosen("hidden")) == want })
		if b.ChooserArmed(tab) {
			t.Error("still armed after its chooser")
		}
	}
	// What was armed for a time is forgotten.
	check.Must(t, b.Upload(t.Context(), first, pagefiles.UploadRequest{Paths: []string{"a.txt"}, Limit: time.Millisecond}))
	if !b.ChooserArmed(first) {
		t.Error("it was forgotten at once")
	}
	browsertest.Eventually(t, "disarming", func() bool { return !b.ChooserArmed(first) })
}

func TestFilesReachAFrameOfAnotherSite(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt")
	tab := b.tab(t, s.URL+"/frame")
	browsertest.Eventually(t, "the frame", func() bool {
		snap, err := tab.Snapshot(t.Context(), page.SnapshotOptions{})
		return err == nil && strings.Contains(snap.Text, "ChooseMany")
	})
	ref := refOf(t, tab, "Many")
	count := page.Action{Kind: actiontable.KindEvaluate, Ref: ref, Fn: "el.files.length"}
	for i, u := range []pagefiles.UploadRequest{{InputRef: ref}, {Ref: refOf(t, tab, "ChooseMany")}} {
		if i == 1 {
			clear := page.Action{Kind: actiontable.KindEvaluate, Ref: ref, Fn: "el.value = ''"}
			check.Must(t, check.Err(tab.Act(t.Context(), clear)))
		}
		u.Paths = []string{"a.txt"}
		check.Must(t, b.Upload(t.Context(), tab, u))
		if res, err := tab.Act(t.Context(), count); err != nil || string(res.Value) != "1" {
			t.Errorf("%+v: got %s files, %v", u, res.Value, err)
		}
	}
}

func TestUploadEndsWithItsCallerOrTab(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	b.give(t, "a.txt")
	tab := b.tab(t, s.URL+"/upload")
	ref := refOf(t, tab, "Nothing")
	stop := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	upload := func(ctx context.Context) {
		done <- b.Upload(ctx, tab, pagefiles.UploadRequest{Ref: ref, Paths: []string{"a.txt"}})
	}
	go upload(ctx)
	browsertest.Eventually(t, "arming", func() bool { return b.ChooserArmed(tab) })
	cancel(stop)
	if err := <-done; !errors.Is(err, stop) || b.ChooserArmed(tab) {
		t.Errorf("got %v, armed %v; want the cause, and nothing armed", err, b.ChooserArmed(tab))
	}
	go upload(t.Context())
	browsertest.Eventually(t, "arming", func() bool { return b.ChooserArmed(tab) })
	check.Must(t, b.Upload(t.Context(), tab, pagefiles.UploadRequest{Paths: []string{"a.txt"}}))
	check.Fails(t, <-done, pagefiles.ErrSuperseded)
	go upload(t.Context())
	browsertest.Eventually(t, "the click", func() bool {
		return strings.Contains(browsertest.JS(t, tab, "document.activeElement.textContent"), "Nothing")
	})
	tab.MainFrame().Post(proto.PageCrash{})
	browsertest.Eventually(t, "the crash", func() bool { return errors.Is(tab.Err(), page.ErrTabCrashed) })
	check.Must(t, tab.Close(t.Context()))
	check.Fails(t, <-done, nil, "the page crashed: navigate")
}
