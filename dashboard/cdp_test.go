package dashboard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"clank/internal/test/browsertest"
)

// shared is the browser of all tests. Its microphone plays a tone.
var shared browsertest.Shared

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "clank-*")
	if err != nil {
		panic(err)
	}
	sound := filepath.Join(dir, "tone.wav")
	if err := os.WriteFile(sound, toneFile(), 0o600); err != nil {
		panic(err)
	}
	shared.Args = []string{
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--use-file-for-fake-audio-capture=" + sound,
		"--mute-audio",
	}
	code := shared.Run(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// chromium is a browser context of one test, and what its pages complained about.
type chromium struct {
	*browsertest.Views

	t      *testing.T
	mu     sync.Mutex
	wrongs []string
}

// launch gives a test the browser of all tests.
func launch(t *testing.T) *chromium {
	t.Helper()
	if testing.Short() {
		t.Skip("pages in a real browser take long")
	}
	c := &chromium{t: t}
	c.Views = shared.Views(t, func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wrongs = append(c.wrongs, text)
	})
	return c
}

// tab is a page in the browser.
type tab struct {
	*chromium
	*browsertest.View
}

// open opens a page with a viewport of width by height, in the given scheme, light or dark.
func (c *chromium) open(url string, width, height int, scheme string) *tab {
	c.t.Helper()
	tb := &tab{c, c.Open(width, height, scheme)}
	tb.goTo(url)
	return tb
}

func (tb *tab) goTo(url string) {
	tb.t.Helper()
	tb.Navigate(url)
	tb.awaitPage()
}

// reload loads the page again.
func (tb *tab) reload() {
	tb.t.Helper()
	tb.Eval("window.before = true")
	tb.Reload()
	tb.awaitPage()
}

// awaitPage waits until another page is there, not only the one that opens it with the key, and its scripts have run.
func (tb *tab) awaitPage() {
	tb.t.Helper()
	eventually(tb.t, "the page is loaded", func() bool {
		return tb.Eval(`(async () => {
			if (window.before || location.href === "about:blank" || document.readyState !== "complete") return false;
			if (document.body?.classList.contains("opening") ?? true) return false;
			for (const script of document.querySelectorAll("script[type=module]")) await import(script.src);
			return true;
		})()`) == true
	})
}

// waitFor waits until a JavaScript expression is true.
func (tb *tab) waitFor(expression string) {
	tb.t.Helper()
	deadline := time.After(browsertest.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for tb.Eval(`Boolean(`+expression+`)`) != true {
		select {
		case <-tick.C:
		case <-deadline:
			tb.t.Fatalf("never true: %s\nthe page says:\n%v", expression, tb.Eval("document.body.innerText"))
		}
	}
}

func (tb *tab) press(key string) {
	tb.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37}
	text := ""
	if key == "Enter" {
		text = "\r"
	}
	tb.Press(key, codes[key], text)
}

// click clicks what selector names, through the element itself.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	sel, _ := json.Marshal(selector)
	tb.waitFor(fmt.Sprintf("document.querySelector(%s)", sel))
	tb.Eval(fmt.Sprintf("document.querySelector(%s).click()", sel))
}

// clean checks that no page complained.
func (c *chromium) clean() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrongs {
		c.t.Errorf("a page complained: %s", w)
	}
	c.wrongs = nil
}
