package browsermgr_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"

	"github.com/google/go-cmp/cmp"
)

func TestTheLinksOfAPageAndItsFramesAreListed(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/links"})
	far := strings.Replace(base, "127.0.0.1", "localhost", 1)
	want := []string{"Two -> " + base + "/two?x=1#y", "Near -> https://near.example/", "New tab -> " + far + "/two"}
	var got []string
	eventually(t, "the frames have loaded", func() bool {
		got = act(t, w, "links", nil)
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Act(t.Context(), "links", map[string]any{"ref": "e1"}); err == nil || !strings.Contains(err.Error(), "it takes none") {
		t.Errorf("with a ref: %v", err)
	}
}

func TestWhatHappenedIsNotToldAmongTheLinks(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	if got := act(t, w, "links", nil); len(got) != 0 { // that the page was opened is news
		t.Errorf("links %q", got)
	}
	if got := act(t, w, "wait", map[string]any{"timeMs": 1}); !slices.ContainsFunc(got, func(n string) bool { return strings.Contains(n, "opened the last page") }) {
		t.Errorf("the next action says %q", got)
	}
}

func TestListingLinksEndsWithItsContext(t *testing.T) {
	base, signs := signallingSite(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	act(t, w, "wait", map[string]any{"timeMs": 1})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	hung := make(chan error, 1)
	go func() {
		_, err := w.Act(ctx, "evaluate", map[string]any{"fn": hang})
		hung <- err
	}()
	<-signs
	brief, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Act(brief, "links", nil); err == nil {
		t.Error("it was listed beside a script that runs")
	}
	stop()
	<-hung
}
