package pixels_test

import (
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/internal/test/pixels"
)

// clickWhatHasJustCome clicks in frames that have just come: Chromium routes input to frames of other sites by what it drew
// last.
func clickWhatHasJustCome(t *testing.T, w *browsermgr.Window, url string) {
	t.Helper()
	for n := range 12 {
		v := view{1280, 720, 1, []float64{0.5, 1, 1.25, 2}[n%4]}
		show(t, w, url, v)
		// Where the frame begins, its border and padding, and the target in it, which is scrolled.
		x, y := (60.5+5+31.4+pixels.Side/2)*v.zoom, (33.3+5+415.9-379+pixels.Side/2)*v.zoom
		act(t, w, "clickCoords", map[string]any{"x": x, "y": y})
		act(t, w, "wait", map[string]any{"fn": "hits.length > 0"})
		if got := act(t, w, "evaluate", map[string]any{"fn": "JSON.stringify(hits.splice(0))"}); !strings.Contains(got, "in a frame") {
			t.Errorf("load %d at zoom %v: the click became %s", n+1, v.zoom, got)
		}
	}
}
