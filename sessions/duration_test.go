package sessions_test

import (
	"testing"
	"time"

	"clank/sessions"
)

func TestDurationsAreToldAsPeopleSayThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", time.Millisecond: "1 second", 1001 * time.Millisecond: "2 seconds", time.Minute: "1 minute",
		61 * time.Second: "61 seconds",
		2 * time.Minute:  "2 minutes", 2*time.Minute + 1: "3 minutes", 59*time.Minute + 30*time.Second: "1 hour",
		time.Hour:        "1 hour",
		90 * time.Minute: "90 minutes", 3*time.Hour + 5*time.Minute: "4 hours", 24*time.Hour - 1: "1 day",
		24 * time.Hour: "1 day", 25 * time.Hour: "25 hours", 72 * time.Hour: "3 days",
	} {
		if got := sessions.DurationText(d); got != want {
			t.Errorf("%s is told as %q, want %q", d, got, want)
		}
	}
}
