package page_test

import (
	"fmt"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
)

// table returns a page of about n elements.
func table(n int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Table</title><table><tr><th>Name<th>Link<th>Do<th>Note")
	for i := range n / 7 {
		fmt.Fprintf(&b, `<tr><td>Row %d<td><a href="/r/%d">Open %d</a><td><button>Edit</button><td>note %d`, i, i, i, i)
	}
	return b.String()
}

func BenchmarkSnapshot(b *testing.B) {
	for name, html := range map[string]string{"form": form, "table10k": table(10_000), "table50k": table(50_000)} {
		b.Run(name, func(b *testing.B) {
			tab := openTab(b, site(b, map[string]string{"/": html}).URL)
			snap := snapshot(b, tab, page.SnapshotOptions{})
			b.ReportMetric(float64(len(snap.Text)), "chars")
			for b.Loop() {
				snapshot(b, tab, page.SnapshotOptions{})
			}
		})
	}
}

func BenchmarkSnapshotModes(b *testing.B) {
	tab := openTab(b, site(b, map[string]string{"/": table(50_000)}).URL)
	for _, m := range []struct {
		name string
		opts page.SnapshotOptions
	}{
		{"own", page.SnapshotOptions{}},
		{"role", page.SnapshotOptions{Refs: page.RefsRole}},
		{"compact", page.SnapshotOptions{Refs: page.RefsRole, Compact: true}},
		{"interactive", page.SnapshotOptions{Refs: page.RefsRole, Interactive: true}},
		{"delta", page.SnapshotOptions{Refs: page.RefsRole, Delta: true}},
		{"urls", page.SnapshotOptions{Refs: page.RefsRole, URLs: true}},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				snapshot(b, tab, m.opts)
			}
		})
	}
	b.Run("described", func(b *testing.B) {
		for b.Loop() {
			snap := snapshot(b, tab, page.SnapshotOptions{Refs: page.RefsRole})
			snap.Describe()
		}
	})
}

func BenchmarkActions(b *testing.B) {
	tab := openTab(b, site(b, map[string]string{"/": form + `<button type=button id=go>Go</button>
		<label>Country <select><option>Peru<option>Norway<option>Chad</select></label>`}).URL)
	name, country := refOf(b, tab, `"Name"`), refOf(b, tab, `"Country"`)
	for _, bench := range []struct {
		name string
		do   func(i int) page.Action
	}{
		{"click", func(int) page.Action { return page.Action{Kind: actiontable.KindClick, Selector: "#go"} }},
		{"type", func(int) page.Action { return page.Action{Kind: actiontable.KindType, Ref: name, Text: "Ada Lovelace"} }},
		{"press", func(int) page.Action { return page.Action{Kind: actiontable.KindPress, Key: "a"} }},
		{"select", func(i int) page.Action {
			return page.Action{Kind: actiontable.KindSelect, Ref: country, Values: []string{[]string{"Peru", "Norway"}[i%2]}}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				act(b, tab, bench.do(i))
			}
		})
	}
}
