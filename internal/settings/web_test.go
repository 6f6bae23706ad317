package settings_test

import (
	"testing"
	"time"

	"clank/internal/settings"
)

func TestLimitsOfTheWebAreKept(t *testing.T) {
	l := open(t, &memory{})
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"interaction.web.search.engine", `"searxng"`, true},
		{"interaction.web.search.engine", `"altavista"`, false},
		{"interaction.web.search.searxngUrl", `"http://127.0.0.1:8888"`, true},
		{"interaction.web.search.searxngUrl", `"localhost"`, false},
		{"interaction.web.search.maxPerHour", `0`, true},
		{"interaction.web.search.maxPerHour", `-1`, false},
		{"interaction.web.watches.maxPerUser", `101`, false},
		{"interaction.web.watches.minIntervalMs", `60000`, true},
		{"interaction.web.watches.minIntervalMs", `1000`, false},
	} {
		if _, _, err := l.Update(t.Context(), values(c.key, c.value), l.State().Version); (err == nil) != c.ok {
			t.Errorf("%s = %s: %v", c.key, c.value, err)
		}
	}
	want := settings.Web{SearchEngine: "searxng", SearXNG: "http://127.0.0.1:8888", WatchesPerPerson: 5, MinWatchInterval: time.Minute, WatchBrowser: true}
	if got := l.Current().Web; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
