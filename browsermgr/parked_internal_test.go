package browsermgr

import (
	"slices"
	"strings"
	"testing"

	"clank/browsermgr/page"
)

func TestATabThatClosedMeanwhileIsNotSelected(t *testing.T) {
	var tabs windowTabs
	first, second := &page.Tab{}, &page.Tab{}
	tabs.Add(first)
	tabs.Add(second)
	tabs.Remove(second) // it closes while it is brought to the front
	tabs.Select(second)
	if !slices.Equal(tabs.selected, []*page.Tab{first}) {
		t.Error("a tab is selected that is not there, and a window parked so could not be opened again")
	}
}

func TestAllThatIsKeptOfAPageCounts(t *testing.T) {
	long := strings.Repeat("x", maxParkedPage)
	for name, f := range map[string]parkedFrame{
		"state": {State: &long}, "address": {URL: long}, "focus": {Focus: []byte(long)},
		"storage": {Storage: map[string]string{"a": long}},
	} {
		if p := (parkedPage{frames: []parkedFrame{f}}); p.size() < maxParkedPage {
			t.Errorf("%s: %d bytes", name, p.size())
		}
	}
}
