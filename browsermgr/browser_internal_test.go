package browsermgr

import (
	"strconv"
	"strings"
	"testing"
)

func TestABrowserThatRunsForWeeksRemembersTheLastClosedTabsOnly(t *testing.T) {
	b := browser{windowByTarget: map[string]*Window{}}
	for i := range 3 * maxClosedTabs {
		target := strconv.Itoa(i)
		b.windowByTarget[target] = &Window{}
		b.tabOwners.Add(target, "owner")
		b.tabOwners.SetModel(target, "model")
		b.tabClosed(target)
	}
	if got := len(b.windowByTarget); got != maxClosedTabs {
		t.Errorf("windows of %d closed tabs are kept, want %d", got, maxClosedTabs)
	}
	const last, gone = 3*maxClosedTabs - 1, 2*maxClosedTabs - 1
	if b.windowByTarget[strconv.Itoa(last)] == nil || b.tabOwners.Model(strconv.Itoa(last)) != "model" {
		t.Error("the tab that closed last is forgotten")
	}
	if got := b.tabOwners.Model(strconv.Itoa(gone)); got != "" {
		t.Errorf("the model of a tab that closed long ago is still %q", got)
	}
	if owner, known := b.tabOwners.Owner(strconv.Itoa(last)); known {
		t.Errorf("a closed tab still belongs to %q", owner)
	}
}

func TestAWindowThatIsOpenForWeeksRemembersTheLastSweptTabsOnly(t *testing.T) {
	var tabs windowTabs
	for i := range 3 * maxClosedTabs {
		id := "t" + strconv.Itoa(i)
		tabs.NoteSweep(id, "not used for 2h")
		if _, err := tabs.Find(id); !strings.Contains(err.Error(), "was closed (not used for 2h)") {
			t.Fatalf("got %v", err)
		}
	}
	if got := len(tabs.swept); got > maxClosedTabs {
		t.Errorf("%d swept tabs are remembered, want no more than %d", got, maxClosedTabs)
	}
}
