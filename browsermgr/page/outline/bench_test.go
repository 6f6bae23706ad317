package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"clank/browsermgr/page/outline"
)

// wide returns a numbered page of about 4n refs.
func wide(n int) outline.Page {
	var b strings.Builder
	b.WriteString("- table:")
	for i := range n {
		fmt.Fprintf(&b, "\n  - row:\n    - cell \"Row %d\" [ref=e%d]\n    - cell:\n      - link \"Open %d\" [ref=e%d]\n    - button \"Edit\" [ref=e%d] [nth=%d]\n    - cell \"note %d\" [ref=e%d]",
			i, 4*i+1, i, 4*i+2, 4*i+3, i, i, 4*i+4)
	}
	return outline.Page{Text: b.String()}
}

func BenchmarkRefs(b *testing.B) {
	page := wide(7000)
	for b.Loop() {
		outline.RefsByName(outline.ListRefs(page.Text))
	}
}

func BenchmarkCompare(b *testing.B) {
	page := wide(7000)
	before := outline.Finish(page, outline.FinishOptions{Compare: true}).Elements
	for b.Loop() {
		outline.Finish(page, outline.FinishOptions{Compare: true, Before: before})
	}
}
