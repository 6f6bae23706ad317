package files

import (
	"testing"
	"time"

	"clank/internal/test/check"
)

// A download may begin after its action has waited for those that it started.
func TestADownloadThatBeginsTooLateForItsActionIsReportedByTheNext(t *testing.T) {
	d := &Transfers{}
	start := time.Now()
	known, late := &downloadItem{began: start}, &downloadItem{began: start}
	known.SuggestedFilename, late.SuggestedFilename = "large.bin", "late.txt"
	c := &tabTransfers{downloads: []*downloadItem{known, late}}
	reported := func(known ...*downloadItem) (names []string) {
		for _, got := range d.takeReports(c, start, known) {
			names = append(names, got.SuggestedFilename)
		}
		return names
	}
	check.Diff(t, "reported by its action", reported(known), []string{"large.bin"})
	late.ended = true
	check.Diff(t, "reported by the next action", reported(known), []string{"large.bin", "late.txt"})
	known.ended = true
	check.Diff(t, "reported at the end", reported(), []string{"large.bin"})
}
