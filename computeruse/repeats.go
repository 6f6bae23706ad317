package computeruse

// A model that repeats itself is told after warnRepeats and ended after
// maxRepeats; so is one that goes round in circles of up to maxCycle turns.
const (
	warnRepeats = 3
	maxRepeats  = 5
	maxCycle    = 3
)

// repeats watches for a model that goes in circles. The zero value is ready.
type repeats struct {
	recent []string // what was done and how the screen looked after it, newest last
}

// add records one turn, and returns how often in a row the newest one, or the
// newest circle of different ones, has occurred.
func (r *repeats) add(what string) int {
	r.recent = append(r.recent, what)
	if extra := len(r.recent) - maxCycle*maxRepeats; extra > 0 {
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
