package page_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/page"
)

func TestReadLimitsTheText(t *testing.T) {
	srv := site(t, map[string]string{
		"/":      `<!doctype html><meta charset=utf-8><nav>Menu</nav><main><h1>Title</h1><p class=p>One</p><p class=p>Two 😀</p><p hidden>No</p><input type=password id=s value=hunter2></main>`,
		"/plain": `<!doctype html><p>Just this`,
		"/two":   `<!doctype html><article>First</article><article>Second</article>`,
	})
	tab := openTab(t, srv.URL)
	tests := []struct {
		path  string
		opts  page.TextOptions
		want  string
		cut   bool
		found bool
	}{
		{"/", page.TextOptions{}, "Title\n\nOne\n\nTwo 😀", false, true},
		{"/", page.TextOptions{Selector: ".p"}, "One", false, true},
		{"/", page.TextOptions{Selector: ".none"}, "", false, false},
		{"/", page.TextOptions{Selector: "#s"}, "••••••••", false, true},
		{"/", page.TextOptions{MaxChars: 7}, "Title\n\n", true, true},
		{"/", page.TextOptions{Selector: ".p + .p", MaxChars: 5}, "Two ", true, true},
		{"/", page.TextOptions{Selector: ".p + .p", MaxChars: 6}, "Two 😀", false, true},
		{"/plain", page.TextOptions{}, "Just this", false, true},
		{"/two", page.TextOptions{}, "First\nSecond", false, true},
	}
	at := "/"
	for _, tt := range tests {
		if tt.path != at {
			at = tt.path
			if _, err := tab.Navigate(t.Context(), srv.URL+at); err != nil {
				t.Fatal(err)
			}
		}
		got, err := tab.Read(t.Context(), tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got.Truncated != tt.cut || got.Found != tt.found || strings.TrimRight(got.Text, "\n") != strings.TrimRight(tt.want, "\n") || got.URL != tab.URL() {
			t.Errorf("%s %+v: got %+v, want %q", tt.path, tt.opts, got, tt.want)
		}
	}
	if _, err := tab.Read(t.Context(), page.TextOptions{Selector: "]["}); !errors.Is(err, page.ErrInvalid) {
		t.Errorf("got %v, want it refused", err)
	}
	if _, err := tab.Read(t.Context(), page.TextOptions{Ref: "e99"}); !errors.Is(err, page.ErrUnknownRef) {
		t.Errorf("got %v, want an unknown ref", err)
	}
}
