package settings_test

import (
	"testing"
	"time"

	"clank/internal/settings"
	"clank/internal/test/check"
)

func TestActionsThatCostAreAskedAboutByDefault(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	a := l.Current().Approval
	for class, want := range map[string]string{
		"submit": "ask", "buy": "ask", "send": "ask", "delete": "ask", "permission": "ask", "executable": "ask",
		"leave": "allow", "host": "ask",
		"login": "ask", "safety": "ask", "nonsense": "ask",
	} {
		check.Equal(t, class, a.Rule(class), want)
		if class == "nonsense" {
			continue
		}
		if _, _, err := l.Update(t.Context(), values("interaction.consent."+class, `"refuse"`),
			l.State().Version); err != nil {
			t.Errorf("%s: %v", class, err)
		}
		check.Equal(t, class+" after the change", l.Current().Approval.Rule(class), "refuse")
	}
	check.Equal(t, "the time to answer", a.Wait, time.Minute)
}

func TestSitesOutsideTheList(t *testing.T) {
	a := settings.Approval{Sites: "example.com *.Example.org\nshop.test:8080"}
	for host, want := range map[string]bool{
		"example.com": false, "EXAMPLE.com.": false, "example.com:8443": false, "www.example.com": true,
		"www.example.org": false,
		"example.org":     true, "evilexample.org": true, "shop.test:8080": false, "shop.test": true, "": true,
	} {
		check.Equal(t, host, a.IsOutsideSites(host), want)
	}
	if (settings.Approval{}).IsOutsideSites("anything.test") {
		t.Error("without a list something is outside of it")
	}
}
