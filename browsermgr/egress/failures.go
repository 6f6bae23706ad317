package egress

import (
	"sync"
	"time"
)

// failures are the last reasons why places were not reached. The zero value is ready.
type failures struct {
	mu     sync.Mutex
	places map[string]failure
}

type failure struct {
	err error
	at  time.Time
}

const (
	failureHolds = time.Minute
	mostFailures = 128
)

// note remembers why host:port place was not reached.
func (f *failures) note(place string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.places == nil || len(f.places) >= mostFailures {
		f.places = map[string]failure{}
	}
	f.places[place] = failure{err, time.Now()}
}

func (f *failures) last(place string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.places[place]; ok && time.Since(one.at) < failureHolds {
		return one.err
	}
	return nil
}
