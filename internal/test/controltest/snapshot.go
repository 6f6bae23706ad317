package main

import (
	"context"
	"fmt"
)

// snapshotAnswer is the answer of GET /snapshot.
type snapshotAnswer struct {
	OK          bool
	Format      string
	TargetID    string `json:"targetId"`
	URL         string
	Snapshot    string
	Refs        map[string]snapshotRef
	Stats       struct{ Lines, Chars, Refs, Interactive int }
	Truncated   bool
	NewElements *int
	Nodes       []struct {
		Ref, Role, Name string
		Depth           int
	}
}

// snapshotRef is what a snapshot tells of an element that can be named by a ref.
type snapshotRef struct {
	Role, Name string
	Nth        *int
}

// Ref finds the ref of the element with that role and name, in the refs of the answer.
func (snap snapshotAnswer) Ref(role, name string) (string, error) {
	for id, r := range snap.Refs {
		if r.Role == role && r.Name == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("there is no ref for %s %q in\n%s", role, name, snap.Snapshot)
}

// Snapshot takes one of the current tab with the query given.
func (s *controlSuite) Snapshot(ctx context.Context, query string) (snapshotAnswer, error) {
	var snap snapshotAnswer
	path := "/snapshot"
	if query != "" {
		path += "?" + query
	}
	return snap, s.Call(ctx, "GET", path, nil, &snap)
}

// SnapshotOf takes one of a page of the site, opened for it.
func (s *controlSuite) SnapshotOf(ctx context.Context, page, query string) (snapshotAnswer, error) {
	if err := s.openPage(ctx, page); err != nil {
		return snapshotAnswer{}, err
	}
	return s.Snapshot(ctx, query)
}
