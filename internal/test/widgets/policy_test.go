package widgets_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// patience is how long the policy looks for an element, and for the end that it expects.
const patience = 10 * time.Second

// policy works pages by what their snapshots say, and acts by refs.
type policy struct {
	tab    *page.Tab
	files  *files.Transfers
	origin string // of what it opens
	home   string // of what an application keeps
	dir    string // of what it uploads
	seen   string // the last snapshot
	saved  string // what it downloaded last
}

// newPolicy opens a tab, and makes files for uploads.
func newPolicy(t *testing.T, uploads map[string]string) *policy {
	t.Helper()
	p := &policy{dir: t.TempDir()}
	for name, content := range uploads {
		check.Must(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600))
	}
	var err error
	p.files, err = files.NewTransfers(
		files.Options{Downloads: t.TempDir(), Uploads: files.UploadPolicy{Folders: []string{p.dir}}})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, p.files.Close()) })
	p.tab = browsertest.Tab(t, browser.Connect(t, page.Options{Observers: []page.Observer{p.files}}), page.TabOptions{})
	return p
}

// node is a line of a snapshot.
type node struct {
	depth                 int
	role, name, ref, line string
}

var (
	nodeLine = regexp.MustCompile(`^( *)- ([\w-]+)(?: "((?:[^"\\]|\\.)*)")?`)
	nodeRef  = regexp.MustCompile(`\[ref=(\w+)\]`)
)

// look takes a snapshot.
func (p *policy) look(ctx context.Context) ([]node, error) {
	snap, err := p.tab.Snapshot(ctx, page.SnapshotOptions{})
	if err != nil {
		return nil, err
	}
	p.seen = snap.Text
	var nodes []node
	for line := range strings.Lines(snap.Text) {
		if m := nodeLine.FindStringSubmatch(line); m != nil {
			// Characters of icon fonts are no names.
			name := strings.TrimFunc(strings.ReplaceAll(m[3], `\"`, `"`), func(c rune) bool {
				return unicode.In(c, unicode.Co, unicode.Space)
			})
			n := node{depth: len(m[1]), role: m[2], name: name, line: line}
			if ref := nodeRef.FindStringSubmatch(line); ref != nil {
				n.ref = ref[1]
			}
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// target names an element as a person would: its role (* is any), name ("" has none), what else its line says, what it
// is in, the text that it comes after, and its place among those that look alike, from 1.
type target struct {
	role, name, mark, inRole, inText, after string
	nameless                                bool
	nth                                     int
}

var targetForm = regexp.MustCompile(
	`^(\*|[\w-]+)(?: ("[^"]*"))?(?: \[([^\]]+)\])?(?: in (\*|[\w-]+) "([^"]*)")?(?: after "([^"]*)")?(?: #(\d+))?$`)

func parseTarget(s string) (target, error) {
	m := targetForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return target{}, fmt.Errorf("no target: %q", s)
	}
	nth, _ := strconv.Atoi(cmp.Or(m[7], "1"))
	return target{m[1], strings.Trim(m[2], `"`), m[3], m[4], m[5], m[6], m[2] == `""`, nth}, nil
}

func isRole(n node, role string) bool { return role == "*" || n.role == role }

// find returns the element in a snapshot: the one of this very name before those whose name, and those whose line, has
// it.
func (w target) find(nodes []node) (node, bool) {
	from := slices.IndexFunc(nodes, func(n node) bool { return strings.Contains(n.line, w.after) })
	if from < 0 {
		return node{}, false
	}
	for _, fits := range []func(node) bool{
		func(n node) bool { return n.name == w.name },
		func(n node) bool { return strings.Contains(n.name, w.name) },
		func(n node) bool { return strings.Contains(n.line, w.name) },
	} {
		nth := w.nth
		for i, n := range nodes {
			switch {
			case n.ref == "" || !isRole(n, w.role) || !strings.Contains(n.line, w.mark) || w.after != "" && i <= from:
			case w.name != "" && !fits(n) || w.nameless && n.name != "" || w.inRole != "" && !w.within(nodes, i):
			default:
				if nth--; nth == 0 {
					return n, true
				}
			}
		}
	}
	return node{}, false
}

// within reports whether the element is inside one of the role that holds the text.
func (w target) within(nodes []node, i int) bool {
	depth := nodes[i].depth
	for at := i; at >= 0; at-- {
		if n := nodes[at]; n.depth < depth || at == i {
			depth = n.depth
			end := slices.IndexFunc(nodes[at+1:], func(in node) bool { return in.depth <= n.depth })
			if end < 0 {
				end = len(nodes) - at - 1
			}
			holds := func(in node) bool { return strings.Contains(in.line, w.inText) }
			if isRole(n, w.inRole) && slices.ContainsFunc(nodes[at:at+1+end], holds) {
				return true
			}
		}
	}
	return false
}

// until asks again and again, up to the policy's patience.
func until(ctx context.Context, what string, cond func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := cond()
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			return fmt.Errorf("%s: not seen", what)
		}
	}
}

// await looks for a target until it is there.
func (p *policy) await(ctx context.Context, s string) (found node, err error) {
	w, err := parseTarget(s)
	if err != nil {
		return node{}, err
	}
	return found, until(ctx, s, func() (ok bool, err error) {
		nodes, err := p.look(ctx)
		found, ok = w.find(nodes)
		return ok, err
	})
}

// clicks are the steps that click.
var clicks = map[string]page.Action{
	"click": {}, "dblclick": {DoubleClick: true}, "rightclick": {Button: "right"},
	"shiftclick": {Modifiers: []string{"Shift"}},
	"ctrlclick":  {Modifiers: []string{"Control"}},
}

// do performs a step: a verb, a target and, after " = " or " -> ", what the verb needs beside it:
//
//	click, dblclick, rightclick, shiftclick, ctrlclick, hover, download TARGET
//	type, slowly, select, upload TARGET = TEXT
//	drag TARGET -> TARGET
//	scroll TARGET -> TARGET    until that is there
//	press KEY [TIMES]
//	see, gone TEXT
//	open PATH
//	accept [TEXT]              the dialog that is open, or that the next step opens
func (p *policy) do(ctx context.Context, step string) error {
	verb, rest, _ := strings.Cut(step, " ")
	switch verb {
	case "open":
		_, err := p.tab.Navigate(ctx, p.origin+rest)
		return err
	case "see", "gone":
		return until(ctx, step, func() (bool, error) {
			_, err := p.look(ctx)
			return strings.Contains(p.seen, rest) == (verb == "see"), err
		})
	case "press":
		key, times, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(cmp.Or(times, "1"))
		return p.act(ctx, page.Action{Kind: actiontable.KindPress, Key: key, Count: n})
	case "accept":
		_, err := p.tab.HandleDialog(ctx, page.DialogAnswer{Accept: true, PromptText: rest}, patience)
		return err
	}
	on, with, drag := strings.Cut(rest, " -> ")
	if !drag {
		on, with, _ = strings.Cut(rest, " = ")
	}
	n, err := p.await(ctx, on)
	if err != nil {
		return err
	}
	a, isClick := clicks[verb]
	a.Kind, a.Ref = actiontable.Kind(verb), n.ref
	switch {
	case isClick:
		a.Kind = actiontable.KindClick
	case verb == "type" || verb == "slowly":
		a.Kind, a.Text, a.Slowly = actiontable.KindType, strings.ReplaceAll(with, `\n`, "\n"), verb == "slowly"
	case verb == "select":
		a.Values = strings.Split(with, "|")
	case verb == "upload":
		upload := files.UploadRequest{Ref: n.ref, Paths: []string{filepath.Join(p.dir, with)}, Limit: patience}
		if strings.Contains(n.line, " [file]") {
			upload.Ref, upload.InputRef = "", n.ref
		}
		return p.files.Upload(ctx, p.tab, upload)
	case verb == "download":
		return p.download(ctx, n.ref)
	case verb == "drag":
		end, err := p.await(ctx, with)
		if err != nil {
			return err
		}
		a = page.Action{Kind: actiontable.KindDrag, StartRef: n.ref, EndRef: end.ref}
	case verb == "scroll":
		return p.scroll(ctx, on, with)
	case verb != "hover":
		return fmt.Errorf("no such step: %s", step)
	}
	err = p.act(ctx, a)
	if err != nil && isClick {
		if m := covering.FindStringSubmatch(err.Error()); m != nil { // what shows it, says the refusal
			a.Ref = m[1]
			return p.act(ctx, a)
		}
	}
	return err
}

var covering = regexp.MustCompile(`covered by .*?\[ref=(\w+)\]`)

// download clicks and keeps what that brings.
func (p *policy) download(ctx context.Context, ref string) error {
	_, got, err := p.files.PerformAction(ctx, p.tab, page.Action{Kind: actiontable.KindClick, Ref: ref})
	if err != nil {
		return err
	}
	if len(got) != 1 || got[0].Path == "" {
		return fmt.Errorf("downloads: %+v", got)
	}
	data, err := os.ReadFile(got[0].Path)
	p.saved = string(data)
	return err
}

// scroll goes on until the target is there. What it scrolls may be another element each time.
func (p *policy) scroll(ctx context.Context, on, to string) error {
	w, err := parseTarget(to)
	if err != nil {
		return err
	}
	for range 60 {
		nodes, err := p.look(ctx)
		if _, ok := w.find(nodes); ok || err != nil {
			return err
		}
		n, err := p.await(ctx, on)
		if err != nil {
			return err
		}
		if err := p.act(ctx, page.Action{Kind: actiontable.KindScroll, Ref: n.ref}); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: not seen after scrolling", to)
}

func (p *policy) act(ctx context.Context, a page.Action) error {
	_, err := p.tab.Act(ctx, a)
	return err
}
