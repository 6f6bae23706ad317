package agent

// A model that repeats itself is told after WarnRepeats and ended after
// MaxRepeats; so is one that goes round in circles of up to maxCycle.
const (
	WarnRepeats = 3
	MaxRepeats  = 5
	maxCycle    = 3
)

// RepeatDetector watches for a model that goes in circles. The zero value is ready.
type RepeatDetector struct {
	recent []string // what was done and what came of it, newest last
}

// Add records what was done and what came of it, and returns how often in a row
// the newest one, or the newest circle of different ones, has occurred.
func (r *RepeatDetector) Add(what string) int {
	r.recent = append(r.recent, what)
	if extra := len(r.recent) - maxCycle*MaxRepeats; extra > 0 {
		r.recent = r.recent[extra:]
	}
	most := 1
	for cycle := 1; cycle <= maxCycle; cycle++ {
		same := cycle
		for i := len(r.recent) - 1 - cycle; i >= 0 && r.recent[i] == r.recent[i+cycle]; i-- {
			same++
		}
		most = max(most, same/cycle)
	}
	return most
}
