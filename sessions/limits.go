package sessions

import "time"

// Limits is how much the [Manager] lets happen. A field that is zero does not limit, where it does not say otherwise.
type Limits struct {
	Disabled        bool // accept no new task
	PerHour         int  // tasks from Discord to accept within any hour; below 0 = none
	Running         int  // tasks that run at once
	RunningPerGuild int
	RunningPerUser  int
	Queued          int // tasks that wait in line
	QueuedPerUser   int

	Sessions    int           // sessions that are open (idle or running) at once
	SessionIdle time.Duration // an open session is parked when nothing has used it for so long

	MaxSteps    int           // for a task that does not say; also the most one may ask for, unless StepCeiling is higher
	StepCeiling int           // the most steps a task may ask for
	TaskTimeout time.Duration // how long a task may run; waiting in line does not count

	Views     int           // pictures of steps to keep for each task, the newest; 0 = none
	KeepTasks int           // final tasks to keep, the newest
	KeepFor   time.Duration // how long to keep final tasks
}

// maxPrompt is how long a prompt may be, in characters. A longer one is refused: nothing is cut in silence.
const maxPrompt = 8000

// steps returns how many steps a task gets that asked for n.
func (l Limits) steps(n int) int {
	most := max(l.MaxSteps, l.StepCeiling)
	if n <= 0 {
		return l.MaxSteps
	}
	if most <= 0 {
		return n
	}
	return min(n, most)
}
