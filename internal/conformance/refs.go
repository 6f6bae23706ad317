package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// scope is a part of the page that a snapshot is taken of, and the document in which its target lies.
type scope struct{ name, query, document string }

// change is what becomes of the page between the snapshot and the click.
type change struct {
	name, script string
	lost         bool // the element is gone: the ref must fail
}

// refs hold on to the element they were made from, whatever becomes of the page: they never act upon another one.
func refs() []check {
	const neighbour = "Object.assign(document.createElement('button'), {textContent: target.textContent, onclick: () => hit('neighbour')})"
	var out []check
	for _, sc := range []scope{
		{"the whole page", "", "page"},
		{"interactive", "interactive=true", "page"},
		{"a selector", "selector=%23scope", "page"},
		{"a depth", "depth=4", "page"},
		{"a frame", "frame=%23same", "same"},
		{"a frame of another site", "frame=%23other", "other"},
		{"a frame of another origin", "frame=%23near", "near"},
	} {
		for _, ch := range []change{
			{"an unchanged page", "", false},
			{"reordering", "target.parentNode.prepend(target)", false},
			{"a same-named neighbour before it", "target.before(" + neighbour + ")", false},
			{"renaming", "target.textContent = 'Other'", false},
			{"removal beside a same-named neighbour", "target.after(" + neighbour + "); target.remove()", true},
		} {
			out = append(out, check{sc.name + ", " + ch.name, func(ctx context.Context, s *suite) error { return s.refAfter(ctx, sc, ch) }})
		}
	}
	return append(out,
		check{"odd names", oddNames},
		check{"an open shadow root", func(ctx context.Context, s *suite) error { return s.clickNamed(ctx, "/shadow", "Open inside", "open") }},
		check{"a closed shadow root", func(ctx context.Context, s *suite) error {
			return s.clickNamed(ctx, "/shadow", "Closed inside", "closed")
		}},
		check{"something that is only drawn as a button", func(ctx context.Context, s *suite) error {
			return s.clickNamed(ctx, "/world", "Clickable Card", "card")
		}},
		check{"spellings", refSpellings},
		check{"a new page forgets them", refsForgotten},
		check{"the last snapshot wins", lastSnapshotWins},
	)
}

// openScope opens the page of the scenarios and waits for its frames.
func (s *suite) openScope(ctx context.Context) error {
	if err := s.open(ctx, "/scope"); err != nil {
		return err
	}
	_, err := s.act(ctx, map[string]any{"kind": "wait", "fn": "window.ready === 3"})
	return err
}

func (s *suite) refAfter(ctx context.Context, sc scope, ch change) error {
	if err := s.openScope(ctx); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, sc.query)
	if err != nil {
		return err
	}
	target, err := snap.ref("button", "Go "+sc.document)
	if err != nil {
		return err
	}
	if ch.script != "" {
		var done bool
		if err := s.evaluate(ctx, fmt.Sprintf("change(%q, %q)", sc.document, ch.script), &done); err != nil {
			return err
		}
	}
	hit, miss := s.site.hit("/hit/"+sc.document), s.site.hit("/hit/neighbour")
	a, err := s.Request(ctx, "POST", "/act", map[string]any{"kind": "click", "ref": target, "timeoutMs": 2000})
	switch {
	case err != nil:
		return err
	case ch.lost && a.Status < http.StatusBadRequest:
		return fmt.Errorf("the ref of a removed element was accepted: %s", a.Body)
	case ch.lost:
		return same("clicks on the neighbour", s.site.hit("/hit/neighbour")-miss, 0)
	case a.Status != http.StatusOK:
		return fmt.Errorf("click: %d %s", a.Status, a.Body)
	}
	return s.until(ctx, "the click on "+sc.document, func() (bool, error) {
		if s.site.hit("/hit/neighbour") != miss {
			return false, errors.New("the neighbour was clicked")
		}
		return s.site.hit("/hit/"+sc.document) == hit+1, nil
	})
}

// clickNamed clicks the element with that name, which must make the page say something.
func (s *suite) clickNamed(ctx context.Context, page, name, want string) error {
	snap, err := s.snapshotOf(ctx, page, "interactive=true")
	if err != nil {
		return err
	}
	for id, r := range snap.Refs {
		if r.Name != name {
			continue
		}
		if _, err := s.act(ctx, map[string]any{"kind": "click", "ref": id}); err != nil {
			return err
		}
		return s.says(ctx, want)
	}
	return fmt.Errorf("there is no %q in\n%s", name, snap.Snapshot)
}

// oddNames clicks buttons whose names are hard to write down, in each mode, and looks which was hit.
func oddNames(ctx context.Context, s *suite) error {
	for _, query := range []string{"maxChars=0", "interactive=true&maxChars=0", "refs=aria&maxChars=0", "format=aria"} {
		snap, err := s.snapshotOf(ctx, "/odd", query)
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
		if err := s.evaluate(ctx, "document.querySelectorAll('button').length", &count); err != nil {
			return err
		}
		if err := same(query+": buttons with a ref", len(ids), count); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := s.act(ctx, map[string]any{"kind": "click", "ref": id}); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		var clicked []int
		if err := s.evaluate(ctx, "[...new Set(window.clicked)].length === document.querySelectorAll('button').length ? [1] : window.clicked", &clicked); err != nil {
			return err
		}
		if err := same(query+": each was clicked once", clicked, []int{1}); err != nil {
			return err
		}
	}
	return nil
}

func refSpellings(ctx context.Context, s *suite) error {
	snap, err := s.snapshotOf(ctx, "/form", "interactive=true")
	if err != nil {
		return err
	}
	id, err := snap.ref("button", "Save")
	if err != nil {
		return err
	}
	for _, spelling := range []any{id, "@" + id, "ref=" + id, strings.ToUpper(id), strings.TrimPrefix(id, "e")} {
		if _, err := s.act(ctx, map[string]any{"kind": "hover", "ref": spelling}); err != nil {
			return fmt.Errorf("%v: %w", spelling, err)
		}
	}
	return nil
}

func refsForgotten(ctx context.Context, s *suite) error {
	snap, err := s.snapshotOf(ctx, "/form", "")
	if err != nil {
		return err
	}
	id, err := snap.ref("button", "Save")
	if err != nil {
		return err
	}
	if err := s.open(ctx, "/form?again"); err != nil {
		return err
	}
	return exchange{path: "/act", body: map[string]any{"kind": "click", "ref": id}, status: 500, says: []string{"Unknown ref"}}.run(ctx, s)
}

func lastSnapshotWins(ctx context.Context, s *suite) error {
	if _, err := s.snapshotOf(ctx, "/form", ""); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, "selector=label&interactive=true")
	if err != nil {
		return err
	}
	if err := same("refs of the scope", len(snap.Refs), 1); err != nil {
		return err
	}
	return exchange{path: "/act", body: map[string]any{"kind": "click", "ref": "e7"}, status: 500, says: []string{"Unknown ref"}}.run(ctx, s)
}
