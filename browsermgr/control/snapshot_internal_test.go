package control

import (
	"net/url"
	"testing"
)

func TestSnapshotParameters(t *testing.T) {
	for query, want := range map[string]struct {
		mode  string // what holds otherwise
		refs  string
		chars int
		depth int // -1: none
	}{
		"":                          {"", "", maxChars, -1},
		"interactive=1":             {"", "role", maxChars, -1},
		"refs=aria&compact=1":       {"", "aria", maxChars, -1},
		"depth=0":                   {"", "role", maxChars, 0},
		"maxChars=0":                {"", "", 0, -1},
		"maxChars=all":              {"", "", 0, -1},
		"mode=efficient":            {"", "role", maxCharsEfficient, depthEfficient},
		"maxChars=9":                {modeEfficient, "role", 9, depthEfficient},
		"mode=efficient&depth=2":    {"", "role", maxCharsEfficient, 2},
		"format=aria&maxChars=1000": {modeEfficient, "", 1000, -1},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		v, err := readSnapshotParams(QueryFields(q), want.mode)
		depth := -1
		if v.Depth != nil {
			depth = *v.Depth
		}
		if err != nil || string(v.Refs) != want.refs || v.MaxChars != want.chars || depth != want.depth {
			t.Errorf("%q: got refs %q, %d characters, depth %d, %v; want %+v", query, v.Refs, v.MaxChars, depth, err, want)
		}
	}
	for given, want := range map[string]int{"": 500, "1": 1, "2001": 2000} {
		v, err := readSnapshotParams(QueryFields(url.Values{"limit": {given}}), "")
		if err != nil || v.limit != want {
			t.Errorf("limit=%s: got %d nodes, %v; want %d", given, v.limit, err, want)
		}
	}
	for _, query := range []string{
		"format=html", "refs=all", "refs=aria&frame=x", "refs=aria&selector=p", "format=aria&labels=1", "format=aria&mode=efficient", "limit=many", "depth=-1",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := readSnapshotParams(QueryFields(q), ""); err == nil {
			t.Errorf("%q is taken for %+v", query, v)
		}
	}
}
