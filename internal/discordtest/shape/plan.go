package shape

import (
	"time"
)

// Plan is what a test has ordered for one request.
type Plan struct {
	Status     int
	RetryAfter time.Duration
	Global     bool
	Held       *Hold
	Lose       bool
}

// Bucket counts the requests of one route and one channel, guild or webhook.
type Bucket struct {
	Used  int
	Reset time.Time // when used starts again from 0
	Until time.Time // everything before is refused
}
