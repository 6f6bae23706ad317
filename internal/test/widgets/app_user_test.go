package widgets_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
)

// appUser works an application by scripts. It knows of a page what a snapshot says, and acts by refs.
type appUser struct {
	tab    *page.Tab
	files  *files.Transfers
	origin string
	dir    string // of the files that are uploaded
	home   string // of what the application keeps
	saved  string // what was downloaded last
	notes  []string
}

// newAppUser opens a tab in a browser of its own, which end with the test.
func newAppUser(t *testing.T) *appUser {
	t.Helper()
	u := &appUser{dir: t.TempDir()}
	opts := files.Options{Downloads: t.TempDir(), Uploads: files.UploadPolicy{Folders: []string{u.dir}}}
	var err error
	u.files, err = files.NewTransfers(opts)
	browsertest.Must(t, err)
	b := browsertest.Connect(t, browsertest.Launch(t), page.Options{Observers: []page.Observer{u.files}})
	t.Cleanup(func() {
		_ = b.Close()
		browsertest.Must(t, u.files.Close())
	})
	u.tab = browsertest.Tab(t, b, page.TabOptions{})
	return u
}

// appStep is a line of a script: a verb, an element, another one, and a text.
//
//	click button "Save" in "Edit page"    what stands below a line with that text
//	fill textbox "Title" = Home
//	drag listitem "inject" to generic "" in "Flow 1"
var appStep = regexp.MustCompile(
	`^(\w+)(?: (\w+) "([^"]*)"(?: in "([^"]*)")?(?: to (\w+) "([^"]*)"(?: in "([^"]*)")?)?)?(?: = (.*))?$`)

// run works through a script. The error names the line.
func (u *appUser) run(ctx context.Context, script string) error {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		step := appStep.FindStringSubmatch(line)
		if step == nil {
			return fmt.Errorf("%s: this is no step", line)
		}
		if err := u.step(ctx, step); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

func (u *appUser) step(ctx context.Context, step []string) error {
	ctx, cancel := context.WithTimeout(ctx, browsertest.Patience)
	defer cancel()
	verb, text := step[1], strings.ReplaceAll(step[8], `\n`, "\n")
	var ref, to string
	var err error
	if step[2] != "" {
		ref, err = u.find(ctx, step[2], step[3], step[4])
	}
	if err == nil && step[5] != "" {
		to, err = u.find(ctx, step[5], step[6], step[7])
	}
	if err != nil {
		return err
	}
	a := page.Action{Ref: ref, Text: text}
	switch verb {
	case "open":
		_, err = u.tab.Navigate(ctx, u.origin+text)
		return err
	case "see":
		_, err = u.await(ctx, func(s page.Snapshot) (string, bool) { return "", strings.Contains(s.Text, text) })
		return err
	case "accept":
		_, err = u.tab.HandleDialog(ctx, page.DialogAnswer{Accept: true, PromptText: text}, 0)
		return err
	case "upload":
		return u.files.Upload(ctx, u.tab, files.UploadRequest{InputRef: ref, Paths: []string{filepath.Join(u.dir, text)}})
	case "download":
		return u.download(ctx, ref)
	case "click":
		a.Kind = actiontable.KindClick
	case "double":
		a.Kind, a.DoubleClick = actiontable.KindClick, true
	case "hover":
		a.Kind = actiontable.KindHover
	case "fill":
		a.Kind, a.Clear = actiontable.KindType, true
	case "press":
		a.Kind, a.Key = actiontable.KindPress, text
	case "select":
		a.Kind, a.Values = actiontable.KindSelect, []string{text}
	case "drag":
		a = page.Action{Kind: actiontable.KindDrag, StartRef: ref, EndRef: to}
	default:
		return errors.New("there is no such verb")
	}
	a.X, a.Y = math.NaN(), math.NaN()
	res, err := u.tab.Act(ctx, a)
	if res.Dialog != nil {
		u.notes = append(u.notes, res.Dialog.Message)
	}
	return err
}

func (u *appUser) download(ctx context.Context, ref string) error {
	_, got, err := u.files.PerformAction(ctx, u.tab, page.Action{Kind: actiontable.KindClick, Ref: ref})
	if err != nil {
		return err
	}
	if len(got) != 1 || got[0].Path == "" {
		return fmt.Errorf("downloads: %+v", got)
	}
	data, err := os.ReadFile(got[0].Path)
	u.saved = string(data)
	return err
}

// find returns the ref of the element with that role and name, below a line that contains a text, as soon as there is one. A name
// may be the nth of several, "Amount#2", or a beginning, "Am*".
func (u *appUser) find(ctx context.Context, role, name, below string) (string, error) {
	nth := 1
	if base, n, ok := strings.Cut(name, "#"); ok {
		number, err := strconv.Atoi(n)
		if err != nil {
			return "", err
		}
		name, nth = base, number
	}
	name, prefix := strings.CutSuffix(name, "*")
	return u.await(ctx, func(s page.Snapshot) (string, bool) {
		text := s.Text
		if below != "" {
			_, text, _ = strings.Cut(text, below)
		}
		n := 0
		snap := page.Snapshot{Text: text}
		for _, r := range snap.Refs() {
			// Characters of icon fonts are no names.
			given := strings.TrimSpace(strings.TrimFunc(r.Name, func(c rune) bool { return unicode.Is(unicode.Co, c) }))
			if r.Role == role && (given == name || prefix && strings.HasPrefix(given, name)) {
				if n++; n == nth {
					return r.Ref, true
				}
			}
		}
		return "", false
	})
}

// await looks at the page until look finds something. The error shows the page.
func (u *appUser) await(ctx context.Context, look func(page.Snapshot) (string, bool)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var text string
	for {
		snap, err := u.tab.Snapshot(ctx, page.SnapshotOptions{})
		switch {
		case ctx.Err() != nil:
			return "", fmt.Errorf("not on the page:\n%s", text)
		case err != nil:
			return "", err
		}
		if found, ok := look(snap); ok {
			return found, nil
		}
		text = snap.Text
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
