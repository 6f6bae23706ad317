package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// refScope is a part of the page that a snapshot is taken of, and the document in which its target lies.
type refScope struct{ name, query, document string }

// pageChange is what becomes of the page between the snapshot and the click.
type pageChange struct {
	name, script string
	lost         bool // the element is gone: the ref must fail
}

// refCases hold on to the element they were made from, whatever becomes of the page: they never act upon another one.
func refCases() []testCase {
	const neighbour = "Object.assign(document.createElement('button'), {textContent: target.textContent, onclick: () => hit('neighbour')})"
	var out []testCase
	for _, sc := range []refScope{
		{"the whole page", "", "page"},
		{"interactive", "interactive=true", "page"},
		{"a selector", "selector=%23scope", "page"},
		{"a depth", "depth=4", "page"},
		{"a frame", "frame=%23same", "same"},
		{"a frame of another site", "frame=%23other", "other"},
		{"a frame of another origin", "frame=%23near", "near"},
	} {
		for _, ch := range []pageChange{
			{"an unchanged page", "", false},
			{"reordering", "target.parentNode.prepend(target)", false},
			{"a same-named neighbour before it", "target.before(" + neighbour + ")", false},
			{"renaming", "target.textContent = 'Other'", false},
			{"removal beside a same-named neighbour", "target.after(" + neighbour + "); target.remove()", true},
		} {
			out = append(out, testCase{Name: sc.name + ", " + ch.name, Run: func(ctx context.Context, s *controlSuite) error { return refAfter(ctx, s, sc, ch) }})
		}
	}
	return append(out,
		testCase{Name: "odd names", Run: oddNames},
		testCase{Name: "an open shadow root", Run: func(ctx context.Context, s *controlSuite) error {
			return clickNamed(ctx, s, "/shadow", "Open inside", "open")
		}},
		testCase{Name: "a closed shadow root", Run: func(ctx context.Context, s *controlSuite) error {
			return clickNamed(ctx, s, "/shadow", "Closed inside", "closed")
		}},
		testCase{Name: "something that is only drawn as a button", Run: func(ctx context.Context, s *controlSuite) error {
			return clickNamed(ctx, s, "/world", "Clickable Card", "card")
		}},
		testCase{Name: "spellings", Run: refSpellings},
		testCase{Name: "a new page forgets them", Run: refsForgotten},
		testCase{Name: "the last snapshot wins", Run: lastSnapshotWins},
	)
}

func refAfter(ctx context.Context, s *controlSuite, sc refScope, ch pageChange) error {
	if err := s.OpenScope(ctx); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, sc.query)
	if err != nil {
		return err
	}
	target, err := snap.Ref("button", "Go "+sc.document)
	if err != nil {
		return err
	}
	if ch.script != "" {
		var done bool
		if err := s.Evaluate(ctx, fmt.Sprintf("change(%q, %q)", sc.document, ch.script), &done); err != nil {
			return err
		}
	}
	hit, miss := s.Site.Hits("/hit/"+sc.document), s.Site.Hits("/hit/neighbour")
	a, err := s.Request(ctx, "POST", "/act", map[string]any{"kind": "click", "ref": target, "timeoutMs": 2000})
	switch {
	case err != nil:
		return err
	case ch.lost && a.Status < http.StatusBadRequest:
		return fmt.Errorf("the ref of a removed element was accepted: %s", a.Body)
	case ch.lost:
		return wantEqualJSON("clicks on the neighbour", s.Site.Hits("/hit/neighbour")-miss, 0)
	case a.Status != http.StatusOK:
		return fmt.Errorf("click: %d %s", a.Status, a.Body)
	}
	return s.waitUntil(ctx, "the click on "+sc.document, func() (bool, error) {
		if s.Site.Hits("/hit/neighbour") != miss {
			return false, errors.New("the neighbour was clicked")
		}
		return s.Site.Hits("/hit/"+sc.document) == hit+1, nil
	})
}

// clickNamed clicks the element with that name, which must make the page say something.
func clickNamed(ctx context.Context, s *controlSuite, page, name, want string) error {
	snap, err := s.SnapshotOf(ctx, page, "interactive=true")
	if err != nil {
		return err
	}
	for id, r := range snap.Refs {
		if r.Name != name {
			continue
		}
		if _, err := s.Act(ctx, map[string]any{"kind": "click", "ref": id}); err != nil {
			return err
		}
		return s.waitForSaid(ctx, want)
	}
	return fmt.Errorf("there is no %q in\n%s", name, snap.Snapshot)
}

// oddNames clicks buttons whose names are hard to write down, in each mode, and looks which was hit.
func oddNames(ctx context.Context, s *controlSuite) error {
	for _, query := range []string{"maxChars=0", "interactive=true&maxChars=0", "refs=aria&maxChars=0", "format=aria"} {
		snap, err := s.SnapshotOf(ctx, "/odd", query)
		if err != nil {
			return err
		}
		var ids []string
		for id, r := range snap.Refs {
			if r.Role == "button" {
				ids = append(ids, id)
			}
		}
		for _, n := range snap.Nodes {
			if n.Role == "button" {
				ids = append(ids, n.Ref)
			}
		}
		var count int
		if err := s.Evaluate(ctx, "document.querySelectorAll('button').length", &count); err != nil {
			return err
		}
		if err := wantEqualJSON(query+": buttons with a ref", len(ids), count); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := s.Act(ctx, map[string]any{"kind": "click", "ref": id}); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		var clicked []int
		if err := s.Evaluate(ctx, "[...new Set(window.clicked)].length === document.querySelectorAll('button').length ? [1] : window.clicked", &clicked); err != nil {
			return err
		}
		if err := wantEqualJSON(query+": each was clicked once", clicked, []int{1}); err != nil {
			return err
		}
	}
	return nil
}

func refSpellings(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/form", "interactive=true")
	if err != nil {
		return err
	}
	id, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	for _, spelling := range []any{id, "@" + id, "ref=" + id, strings.ToUpper(id), strings.TrimPrefix(id, "e")} {
		if _, err := s.Act(ctx, map[string]any{"kind": "hover", "ref": spelling}); err != nil {
			return fmt.Errorf("%v: %w", spelling, err)
		}
	}
	return nil
}

func refsForgotten(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/form", "")
	if err != nil {
		return err
	}
	id, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	if err := s.openPage(ctx, "/form?again"); err != nil {
		return err
	}
	return requestCase{Path: "/act", Body: map[string]any{"kind": "click", "ref": id}, Status: 500, Contains: []string{"Unknown ref"}}.Run(ctx, s)
}

func lastSnapshotWins(ctx context.Context, s *controlSuite) error {
	if _, err := s.SnapshotOf(ctx, "/form", ""); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "selector=label&interactive=true")
	if err != nil {
		return err
	}
	if err := wantEqualJSON("refs of the scope", len(snap.Refs), 1); err != nil {
		return err
	}
	return requestCase{Path: "/act", Body: map[string]any{"kind": "click", "ref": "e7"}, Status: 500, Contains: []string{"Unknown ref"}}.Run(ctx, s)
}
