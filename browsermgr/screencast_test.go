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
	"clank/internal/test/check"
	"clank/videosource"
)

// film watches a window's screencast: colours yields the colour in the middle when it changes, done the reason for the
// end.
func film(t *testing.T, w *browsermgr.Window) (colours <-chan string, done <-chan error) {
	t.Helper()
	return filmFor(t.Context(), t, w)
}

// filmFor is film on behalf of ctx's hold.
func filmFor(ctx context.Context, t *testing.T, w *browsermgr.Window) (colours <-chan string, done <-chan error) {
	t.Helper()
	seen, over := make(chan string, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		last := ""
		over <- w.Screencast(ctx, func(p videosource.Picture) {
			size, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
			if err != nil || size.Width != p.Width || size.Height != p.Height {
				t.Errorf("a picture of %d x %d: %v", p.Width, p.Height, err)
				return
			}
			now := colourOf(t, p.JPEG)
			if now != last {
				seen <- now
			}
			last = now
		})
	}()
	t.Cleanup(cancel)
	return seen, over
}

// colourOf names the colour in the middle of a picture.
func colourOf(t *testing.T, data []byte) string {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Error(err)
		return ""
	}
	size := img.Bounds().Size()
	r, g, b, _ := img.At(size.X/2, size.Y/2).RGBA()
	for name, is := range map[string]bool{"red": r > g+b, "green": g > r+b, "blue": b > r+g} {
		if is {
			return name
		}
	}
	return "other"
}

func wantColour(t *testing.T, seen <-chan string, want string) {
	t.Helper()
	late := time.After(browsertest.Patience)
	var shown []string
	for {
		select {
		case got := <-seen:
			if got == want {
				return
			}
			shown = append(shown, got)
		case <-late:
			t.Fatalf("%s was not shown, but %q", want, shown)
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

// TestDuringATakeoverOnlyThePersonSeesThePage tests what other viewers see meanwhile, and that they see nothing of it
// later.
func TestDuringATakeoverOnlyThePersonSeesThePage(t *testing.T) {
	m := sharedManager(t)
	site := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<body style="background: lime"
			onmousedown="this.style.background = 'red'" onkeydown="this.style.background = 'blue'">`)
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site.URL})
	seen, _ := film(t, w)
	wantColour(t, seen, "green")
	h, err := w.TakeOver(t.Context(), "ada")
	check.Must(t, err)
	defer h.End()
	wantColour(t, seen, "other") // the sign
	_, _, err = w.CaptureWebP(t.Context(), 80, 1)
	check.Fails(t, err, page.ErrHeld)
	mine, _ := filmFor(h.Context(t.Context()), t, w)
	check.Must(t, h.Input(page.PersonInput{Kind: "down", X: 640, Y: 360, Clicks: 1}))
	wantColour(t, mine, "red")
	check.Must(t, h.Input(page.PersonInput{Kind: "up", X: 640, Y: 360, Clicks: 1}))
	check.Must(t, h.Input(page.PersonInput{Kind: "keydown", Key: "a", Code: "KeyA", KeyCode: 65}))
	wantColour(t, mine, "blue")
	select {
	case got := <-seen:
		t.Errorf("others see %s", got)
	default:
	}
	h.End()
	wantColour(t, seen, "blue")
}
