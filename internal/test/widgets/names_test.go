package widgets_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// TestNames compares roles, names and states on the pages with Chromium's own tree: as they are first, after the first
// step, and in the end.
func TestNames(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("component libraries are installed from the network: make names does that")
	}
	dir, err := filepath.Abs(cache)
	check.Must(t, err)
	site := browsertest.Serve(t, show(dir))
	tab := browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{})
	var names browsertest.Names
	for _, l := range libraries(t, dir) {
		t.Run(l.name, func(t *testing.T) {
			check.Must(t, l.bundle(t.Context(), dir))
			for _, task := range l.tasks {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				browsertest.Navigate(t, tab, site.URL+"/"+l.name+"/"+task.name)
				p := &policy{tab: tab}
				names.Compare(t, tab, l.name+"/"+task.name)
				for i, step := range task.steps {
					if strings.Contains(step, "load ") {
						break // it takes files
					}
					err = p.do(ctx, step)
					if i == 0 || i == len(task.steps)-1 || err != nil {
						names.Compare(t, tab, l.name+"/"+task.name+": "+step)
					}
					if err != nil {
						t.Logf("%s/%s: %s: %v", l.name, task.name, step, err)
						break
					}
				}
				cancel()
			}
		})
	}
	t.Log(names)
	if names.Elements < 4000 || names.Equal*100 < names.Elements*99 {
		t.Errorf("%s, want 99 %% of 4000 or more", names)
	}
}
