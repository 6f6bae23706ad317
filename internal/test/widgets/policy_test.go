package widgets_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
)

// patience is how long the policy looks for an element, and for the end that it expects.
const patience = 6 * time.Second

// policy works a page by what its snapshots say.
type policy struct {
	tab    *page.Tab
	upload func(context.Context, *page.Tab, files.UploadRequest) error
	seen   string // the last snapshot
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
			n := node{depth: len(m[1]), role: m[2], name: strings.ReplaceAll(m[3], `\"`, `"`), line: line}
			if ref := nodeRef.FindStringSubmatch(line); ref != nil {
				n.ref = ref[1]
			}
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// target names an element as a person would: its role (* is any), name, what else its line says, what it is in, and its place among
// those that look alike, from 1.
type target struct {
	role, name, mark, inRole, inText string
	nth                              int
}

var targetForm = regexp.MustCompile(`^(\*|[\w-]+)(?: "([^"]*)")?(?: \[([^\]]+)\])?(?: in (\*|[\w-]+) "([^"]*)")?(?: #(\d+))?$`)

func parseTarget(s string) (target, error) {
	m := targetForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return target{}, fmt.Errorf("no target: %q", s)
	}
	nth, _ := strconv.Atoi(cmp.Or(m[6], "1"))
	return target{m[1], m[2], m[3], m[4], m[5], nth}, nil
}

func isRole(n node, role string) bool { return role == "*" || n.role == role }

// find returns the element in a snapshot: the one of this very name before those whose name, and those whose line, has it.
func (w target) find(nodes []node) (node, bool) {
	for _, fits := range []func(node) bool{
		func(n node) bool { return n.name == w.name },
		func(n node) bool { return strings.Contains(n.name, w.name) },
		func(n node) bool { return strings.Contains(n.line, w.name) },
	} {
		nth := w.nth
		for i, n := range nodes {
			if n.ref == "" || !isRole(n, w.role) || w.name != "" && !fits(n) || !strings.Contains(n.line, w.mark) ||
				w.inRole != "" && !w.within(nodes, i) {
				continue
			}
			if nth--; nth == 0 {
				return n, true
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

func (p *policy) ref(ctx context.Context, s string) (ref string, err error) {
	w, err := parseTarget(s)
	if err != nil {
		return "", err
	}
	return ref, until(ctx, s, func() (bool, error) {
		nodes, err := p.look(ctx)
		n, ok := w.find(nodes)
		ref = n.ref
		return ok, err
	})
}

// clicks are the steps that click.
var clicks = map[string]page.Action{
	"click": {}, "dblclick": {DoubleClick: true}, "rightclick": {Button: "right"}, "shiftclick": {Modifiers: []string{"Shift"}},
	"ctrlclick": {Modifiers: []string{"Control"}},
}

// do performs a step: a verb, a target and, after " = " or " -> ", what the verb needs beside it:
//
//	click, dblclick, rightclick, shiftclick, ctrlclick, hover TARGET
//	type, slowly, select, upload TARGET = TEXT
//	drag TARGET -> TARGET
//	scroll TARGET -> TARGET    until that is there
//	press KEY [TIMES]
//	see, gone TEXT
//	accept [TEXT]              the dialog that the next step opens
func (p *policy) do(ctx context.Context, step string) error {
	verb, rest, _ := strings.Cut(step, " ")
	switch verb {
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
	ref, err := p.ref(ctx, on)
	if err != nil {
		return err
	}
	a, isClick := clicks[verb]
	a.Kind, a.Ref = actiontable.Kind(verb), ref
	switch {
	case isClick:
		a.Kind = actiontable.KindClick
	case verb == "type" || verb == "slowly":
		a.Kind, a.Text, a.Slowly = actiontable.KindType, with, verb == "slowly"
	case verb == "select":
		a.Values = strings.Split(with, "|")
	case verb == "upload":
		return p.upload(ctx, p.tab, files.UploadRequest{Ref: ref, Paths: []string{with}, Limit: patience})
	case verb == "drag":
		a.StartRef = ref
		if a.EndRef, err = p.ref(ctx, with); err != nil {
			return err
		}
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
		ref, err := p.ref(ctx, on)
		if err != nil {
			return err
		}
		if err := p.act(ctx, page.Action{Kind: actiontable.KindScroll, Ref: ref}); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: not seen after scrolling", to)
}

func (p *policy) act(ctx context.Context, a page.Action) error {
	_, err := p.tab.Act(ctx, a)
	return err
}
