package plain

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// places are URLs by what people call them.
type places struct {
	shown []string          // the names as given, sorted
	urls  map[string]string // by folded name
	page  bool              // a page is open, on which there may be what is to be opened
}

func newPlaces(m map[string]string) places {
	p := places{shown: slices.Sorted(maps.Keys(m)), urls: make(map[string]string, len(m))}
	for name, u := range m {
		p.urls[foldPlace(name)] = u
	}
	return p
}

// on returns the places with a page open, or not.
func (p places) on(page bool) places {
	p.page = page
	return p
}

func (p places) names() []string { return p.shown }

// foldPlace makes "The Demo Shop" and "demo shop" equal.
func foldPlace(s string) string {
	words := strings.Fields(strings.ToLower(s))
	if len(words) > 1 && slices.Contains([]string{"the", "a", "an", "my", "our"}, words[0]) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

var hostLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\pL\pN_-]+(?:\.[\pL\pN_-]+)*\.[\pL]{2,}|localhost|` +
		`\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]+\])(?::\d{1,5})?(?:[/?#].*)?$`)
})

// find returns the URL of what people call s: the name of a place, a URL, or a bare host.
func (p places) find(s string) (string, bool) {
	if u, ok := p.urls[foldPlace(s)]; ok {
		return u, true
	}
	if strings.ContainsAny(s, " \t\n") {
		return "", false
	}
	if u, err := url.Parse(s); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return s, true
	}
	if s == "about:blank" || hostLike().MatchString(s) {
		return s, true
	}
	return "", false
}
