package sessions

import (
	"fmt"
	"time"
)

// DurationText returns a duration for people: "1 hour", "90 minutes", "3 days". It rounds up to the largest unit of
// which there are at least two.
func DurationText(d time.Duration) string {
	if d > 2*time.Minute {
		d = (d + time.Minute - 1).Truncate(time.Minute)
	}
	for _, u := range []struct {
		of        time.Duration
		one, more string
	}{
		{24 * time.Hour, "1 day", "%d days"}, {time.Hour, "1 hour", "%d hours"}, {time.Minute, "1 minute", "%d minutes"},
	} {
		switch {
		case d == u.of:
			return u.one
		case d >= 2*u.of:
			return fmt.Sprintf(u.more, (d+u.of-1)/u.of)
		}
	}
	if n := (d + time.Second - 1) / time.Second; n != 1 {
		return fmt.Sprintf("%d seconds", n)
	}
	return "1 second"
}
