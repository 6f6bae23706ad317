package address_test

import (
	"strings"
	"testing"

	"clank/browsermgr/address"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"http://a.com/x", "http://a.com/x", true},
		{"http://a.com", "http://a.com/", true},
		{"http://a.com/x", "http://a.com/xy", false},
		{"http://a.com/*", "http://a.com/x", true},
		{"http://a.com/*", "http://a.com/x/y", false},
		{"**/y", "http://a.com/x/y", true},
		{"**?id=*", "http://a.com/x?id=5", true},
		{"**", "about:blank", true},
	}
	for _, tt := range tests {
		match, err := address.ParsePattern(tt.pattern)
		if err != nil || match(tt.url) != tt.want {
			t.Errorf("%q on %q: got %v, %v; want %v", tt.pattern, tt.url, !tt.want, err, tt.want)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("http://a/*", "http://a/b")
	f.Add("***[(", "x")
	f.Fuzz(func(t *testing.T, pattern, url string) {
		match, err := address.ParsePattern(pattern)
		if err != nil {
			return
		}
		match(url)
		if !strings.Contains(pattern, "*") && !match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}
