package discordtest

import "time"

// RoutePlan is what a test has ordered for one request.
type RoutePlan struct {
	Status     int
	RetryAfter time.Duration
	Global     bool
	Held       *RequestHold
	Lose       bool
}

// RateBucket counts the requests of one route and one channel, guild or webhook.
type RateBucket struct {
	Used  int
	Reset time.Time // when used starts again from 0
	Until time.Time // everything before is refused
}
