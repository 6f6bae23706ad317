package browsermgr_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"net/http"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
	"clank/videosource"
)

// film shows a window's screencast: the colours of what is in the middle, as they change. done has why it ended.
func film(t *testing.T, w *browsermgr.Window) (colours <-chan string, done <-chan error) {
	t.Helper()
	seen, over := make(chan string, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		last := ""
		over <- w.Screencast(ctx, func(p videosource.Picture) {
			img, err := jpeg.Decode(bytes.NewReader(p.JPEG))
			if err != nil || img.Bounds().Dx() != p.Width || img.Bounds().Dy() != p.Height {
				t.Errorf("a picture of %d x %d: %v", p.Width, p.Height, err)
				return
			}
			r, g, b, _ := img.At(p.Width/2, p.Height/2).RGBA()
			now := "other"
			for name, is := range map[string]bool{"red": r > g+b, "green": g > r+b, "blue": b > r+g} {
				if is {
					now = name
				}
			}
			if now != last {
				seen <- now
			}
			last = now
		})
	}()
	t.Cleanup(cancel)
	return seen, over
}

func wantColour(t *testing.T, seen <-chan string, want string) {
	t.Helper()
	late := time.After(browsertest.Patience)
	for {
		select {
		case got := <-seen:
			if got == want {
				return
			}
		case <-late:
			t.Fatalf("%s was not shown", want)
		}
	}
}

func TestAScreencastShowsTheCurrentTabOfItsWindow(t *testing.T) {
	m := sharedManager(t)
	colour := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, `<body style="background:`+r.URL.Query().Get("is")+`">`)
	}).URL + "/?is="
	first := window(t, m, browsermgr.WindowOptions{Key: "a", URL: colour + "red"})
	second := window(t, m, browsermgr.WindowOptions{Key: "b", URL: colour + "lime"})
	seen, done := film(t, first)
	others, _ := film(t, second)
	wantColour(t, seen, "red")
	wantColour(t, others, "green")
	paint := func(w *browsermgr.Window, colour string) {
		t.Helper()
		act(t, w, "evaluate", map[string]any{"fn": `void (document.body.style.background = "` + colour + `")`})
	}
	paint(first, "blue") // a page in the background of another window's
	wantColour(t, seen, "blue")
	act(t, first, "tabNew", map[string]any{"url": colour + "lime"})
	wantColour(t, seen, "green")
	paint(second, "red")
	wantColour(t, others, "red")
	act(t, first, "tabClose", nil)
	wantColour(t, seen, "blue")
	act(t, first, "evaluate", map[string]any{"fn": `void setTimeout(() => alert("hello"))`})
	select {
	case err := <-done:
		if _, ok := errors.AsType[*page.DialogError](err); !ok {
			t.Errorf("the screencast ended with %v, want the dialog", err)
		}
	case <-time.After(browsertest.Patience):
		t.Error("the screencast goes on behind a dialog")
	}
	act(t, first, "dialog", map[string]any{"accept": true})
}
