package browsertool

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// callTimeout is how long the answer to a call may take: what the control API
// allows itself, and some more, so that its own error comes first.
func callTimeout(action string, in callInput, act map[string]any) time.Duration {
	named := in.str("timeoutMs") != ""
	var inner time.Duration
	if action == "act" {
		inner = actTimeout(act, 0)
	} else {
		usual := 20 * time.Second
		switch action {
		case "download", "waitfordownload", "upload":
			usual = 120 * time.Second
		}
		inner = clampMillis(in["timeoutMs"], usual, 500*time.Millisecond, 120*time.Second)
	}
	if named {
		return max(inner+answerSlack, leastNamedWait)
	}
	return max(inner+answerSlack, leastWait)
}

// actTimeout is the longest that one act takes, by the contract's limits.
func actTimeout(act map[string]any, depth int) time.Duration {
	const guard = 250 * time.Millisecond // for what an interaction sets off
	in := callInput(act)
	short := clampMillis(act["timeoutMs"], 8*time.Second, 500*time.Millisecond, 60*time.Second)
	long := clampMillis(act["timeoutMs"], 20*time.Second, 500*time.Millisecond, 120*time.Second)
	delay := clampMillis(act["delayMs"], 0, 0, 5*time.Second)
	switch in.str("kind") {
	case "wait":
		total := clampMillis(act["timeMs"], 0, 0, 30*time.Second)
		for _, key := range []string{"text", "textGone", "selector", "url", "loadState", "fn"} {
			if in.str(key) != "" {
				total += long
			}
		}
		return total
	case "evaluate", "scrollIntoView":
		return long + guard
	case "type":
		const perKey = 75 * time.Millisecond
		keys := time.Duration(0)
		if in.isTrue("slowly") {
			keys = time.Duration(len(in.str("text"))) * perKey
		}
		return short + keys + guard
	case "fill":
		list, _ := act["fields"].([]any)
		return short*time.Duration(max(1, len(list))) + guard
	case "batch":
		const deepest = 5
		total := time.Duration(0)
		list, _ := act["actions"].([]any)
		for _, v := range list {
			if one, ok := v.(map[string]any); ok && depth < deepest {
				total += actTimeout(one, depth+1)
			}
		}
		return min(total, time.Hour)
	}
	return short + delay + guard
}

// clampMillis reads a number of milliseconds and keeps it within bounds.
func clampMillis(v any, usual, least, most time.Duration) time.Duration {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = strings.TrimSpace(v)
	}
	ms, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(ms) || ms <= 0 {
		return usual
	}
	return min(max(time.Duration(min(ms, float64(most.Milliseconds())))*time.Millisecond, least), most)
}
