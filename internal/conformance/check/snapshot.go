package check

import (
	"context"
	"fmt"
)

// Snapshot is the answer of GET /snapshot.
type Snapshot struct {
	OK          bool
	Format      string
	TargetID    string `json:"targetId"`
	URL         string
	Snapshot    string
	Refs        map[string]Ref
	Stats       struct{ Lines, Chars, Refs, Interactive int }
	Truncated   bool
	NewElements *int
	Nodes       []struct {
		Ref, Role, Name string
		Depth           int
	}
}

// Ref is what a snapshot tells of an element that can be named by a ref.
type Ref struct {
	Role, Name string
	Nth        *int
}

// Ref finds the ref of the element with that role and name, in the refs of the answer.
func (snap Snapshot) Ref(role, name string) (string, error) {
	for id, r := range snap.Refs {
		if r.Role == role && r.Name == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("there is no ref for %s %q in\n%s", role, name, snap.Snapshot)
}

// Snapshot takes one of the current tab with the query given.
func (s *Suite) Snapshot(ctx context.Context, query string) (Snapshot, error) {
	var snap Snapshot
	path := "/snapshot"
	if query != "" {
		path += "?" + query
	}
	return snap, s.Call(ctx, "GET", path, nil, &snap)
}

// SnapshotOf takes one of a page of the site, opened for it.
func (s *Suite) SnapshotOf(ctx context.Context, page, query string) (Snapshot, error) {
	if err := s.Open(ctx, page); err != nil {
		return Snapshot{}, err
	}
	return s.Snapshot(ctx, query)
}
