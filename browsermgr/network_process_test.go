package browsermgr_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func TestTheEndOfTheNetworkProcessIsNamedAndTheNextLoadWorks(t *testing.T) {
	const want = "the browser's network process ended and was started again"
	asked := make(chan struct{}, 2)
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		browsertest.HTML(w, `<a href="/slow">Slow</a>`)
	})
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	during := func(kind string, args map[string]any) (notes []string, err error) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			notes, err = w.Act(t.Context(), kind, args)
		}()
		select {
		case <-asked:
		case <-browsertest.Within(t, 30*time.Second).Done():
			t.Errorf("%s: nothing was loaded", kind)
		}
		browsertest.KillNetwork(t, m.Status()[0].PID)
		<-ended
		return notes, err
	}
	act(t, w, "navigate", map[string]any{"url": srv.URL})
	check.Fails(t, check.Err(during("navigate", map[string]any{"url": srv.URL + "/slow"})),
		nil, want+", so what was loading is lost: try again")
	notes, err := during("click", map[string]any{"ref": refOf(t, w, "Slow")})
	check.Must(t, err)
	eventually(t, "word of it, with this action or the next", func() bool {
		if strings.Contains(strings.Join(notes, "; "), want) {
			return true
		}
		notes = act(t, w, "scroll", map[string]any{"direction": "down"})
		return false
	})
	if notes := act(t, w, "navigate", map[string]any{"url": srv.URL}); len(notes) != 0 {
		t.Errorf("it is told again: %q", notes)
	}
}
