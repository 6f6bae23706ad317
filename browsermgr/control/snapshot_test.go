package control_test

import (
	"net/url"
	"strings"
	"testing"

	"clank/browsermgr/control"
)

func TestSnapshotsDescribeThePage(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	for query, want := range map[string]struct{ has, hasNot string }{
		"":                                    {`heading "Start"`, "Links:"},
		"format=ai":                           {`heading "Start"`, "Links:"},
		"interactive=1":                       {`button "Press me"`, "heading"},
		"mode=efficient":                      {`button "Press me"`, "heading"},
		"mode=efficient&interactive=no":       {`heading "Start"`, "Links:"},
		"urls=true":                           {site + "/two", "nothing of the kind"},
		"selector=button":                     {`button "Press me"`, "heading"},
		"selector=.none&urls=true":            {"(empty)", "Links:"},
		"depth=0":                             {"main", "heading"},
		"maxChars=120":                        {"TRUNCATED", "Below"},
		"maxChars=0":                          {`heading "Start"`, "TRUNCATED"},
		"maxChars=lots":                       {`heading "Start"`, "TRUNCATED"},
		"targetId=" + strings.ToLower(target): {`heading "Start"`, "Links:"},
	} {
		a := c.ok("GET", "/snapshot?"+query, nil)
		if got := a.str("snapshot"); !strings.Contains(got, want.has) || strings.Contains(got, want.hasNot) {
			t.Errorf("%q: got\n%s\nwant %q and not %q", query, got, want.has, want.hasNot)
		}
		if a.str("format") != "ai" || a.str("url") != site+"/" || a.str("targetId") != target {
			t.Errorf("%q: got %s", query, a.text)
		}
		refs, stats := a.body["refs"].(map[string]any), a.body["stats"].(map[string]any)
		if stats["refs"] != float64(len(refs)) || strings.Count(a.str("snapshot"), "[ref=") != len(refs) {
			t.Errorf("%q: %d refs and stats %v of\n%s", query, len(refs), stats, a.str("snapshot"))
		}
	}
	for query, want := range map[string]string{
		"format=aria&labels=true":          "format=ai",
		"format=aria&mode=efficient":       "format=ai",
		"refs=aria&selector=main":          "refs=aria",
		"refs=aria&frame=iframe":           "refs=aria",
		"format=xml":                       "format must be ai or aria",
		"depth=-1":                         "depth must be a non-negative integer.",
		"depth=1.5":                        "depth must be a non-negative integer.",
		"timeoutMs=0":                      "timeoutMs must be a positive integer.",
		"selector=" + url.QueryEscape("["): "selector",
	} {
		if a := c.do("GET", "/snapshot?"+query, nil); a.status != 400 || !strings.Contains(a.str("error"), want) {
			t.Errorf("%q: got %d %s, want 400 %q", query, a.status, a.text, want)
		}
	}
}

func TestTheModeOfSnapshotsCanBeSet(t *testing.T) {
	c := serve(t, func(s *control.Server) { s.SnapshotMode = func() string { return "efficient" } })
	c.open("/")
	if got := c.ok("GET", "/snapshot", nil).str("snapshot"); strings.Contains(got, "heading") {
		t.Errorf("got\n%s", got)
	}
}

func TestTextOfAPage(t *testing.T) {
	c := serve(t, nil)
	c.open("/two")
	a := c.ok("GET", "/text", nil)
	if !strings.HasPrefix(a.str("text"), "Second page") || a.body["truncated"] != false || a.str("url") != site+"/two" {
		t.Errorf("got %s", a.text)
	}
	a = c.ok("GET", "/text?maxChars=6", nil)
	if a.str("text") != "Second" || a.body["truncated"] != true {
		t.Errorf("cut: got %s", a.text)
	}
}
