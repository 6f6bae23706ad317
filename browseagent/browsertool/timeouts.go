package browsertool

import (
	"time"

	"clank/browsermgr/page/action/actiontable"
)

// callTimeout returns how long the answer to a call may take: what the control API
// allows itself, and some more, so that its own error comes first.
func callTimeout(action string, in callInput, act map[string]any) time.Duration {
	named := in.str("timeoutMs") != ""
	var inner time.Duration
	switch action {
	case "act":
		inner = min(actiontable.WaitFor(act).Total(), time.Hour)
	case "download", "waitfordownload", "upload":
		inner = clampMillis(in["timeoutMs"], 120*time.Second)
	default:
		inner = clampMillis(in["timeoutMs"], 20*time.Second)
	}
	if named {
		return max(inner+answerSlack, leastNamedWait)
	}
	return max(inner+answerSlack, leastWait)
}

// clampMillis reads a number of milliseconds and keeps it within what the control
// API allows.
func clampMillis(v any, usual time.Duration) time.Duration {
	ms, given, ok := actiontable.ParseNumber(v, false)
	if !given || !ok || ms <= 0 {
		return usual
	}
	return time.Duration(min(max(ms, 500), 120_000)) * time.Millisecond
}
