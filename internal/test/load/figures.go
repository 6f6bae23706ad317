package load

import (
	"slices"
	"sync"
	"time"
)

// Figures count what people have done. They are safe for concurrent use.
type Figures struct {
	mu     sync.Mutex
	loops  map[string]int             // by person
	steps  map[string][]time.Duration // by what they did
	queued []time.Duration
	errors []error
}

// Snapshot is a set of counts.
type Snapshot struct {
	Loops         map[string]int
	Steps, Queued []time.Duration // sorted
	StepsOf       map[string][]time.Duration
	Errors        []error
}

// Step records the duration of a step for which a person or a model waited.
func (f *Figures) Step(kind string, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.steps == nil {
		f.steps = map[string][]time.Duration{}
	}
	f.steps[kind] = append(f.steps[kind], took)
}

// Loop records that a person has completed the form once more.
func (f *Figures) Loop(person string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loops == nil {
		f.loops = map[string]int{}
	}
	f.loops[person]++
}

// Queued records how long a task waited in the queue.
func (f *Figures) Queued(took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queued = append(f.queued, took)
}

// Fail records an error.
func (f *Figures) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors = append(f.errors, err)
}

// Take returns the counts since the last call.
func (f *Figures) Take() Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Snapshot{Loops: f.loops, StepsOf: f.steps, Queued: f.queued, Errors: f.errors}
	f.loops, f.steps, f.queued, f.errors = nil, nil, nil, nil
	for _, took := range s.StepsOf {
		slices.Sort(took)
		s.Steps = append(s.Steps, took...)
	}
	slices.Sort(s.Steps)
	slices.Sort(s.Queued)
	return s
}

// Total returns the loops of all people.
func (s Snapshot) Total() int {
	n := 0
	for _, loops := range s.Loops {
		n += loops
	}
	return n
}

// Fairness returns Jain's fairness index of the loops of people: 1 if all have done the same number, 1/n if one of n
// has done all.
func (s Snapshot) Fairness(people []string) float64 {
	sum, squares := 0.0, 0.0
	for _, p := range people {
		n := float64(s.Loops[p])
		sum, squares = sum+n, squares+n*n
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(people)) * squares)
}

// Percentile returns a percentile of sorted values; 0 if there are none.
func Percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
