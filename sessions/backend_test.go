package sessions_test

import (
	"testing"

	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func TestTheScriptedBackendIsABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
			if task.Prompt == "slow" {
				return []sessionstest.ScriptStep{sessionstest.Wait("for ever", make(chan struct{})), sessionstest.Answer("never")}
			}
			if task.Prompt == "pass on" {
				return []sessionstest.ScriptStep{sessionstest.HandOver("other", "the rest")}
			}
			think := sessionstest.ScriptStep{Step: sessions.Step{Kind: sessions.StepThink, Label: "think"}}
			return []sessionstest.ScriptStep{
				think, sessionstest.Act("one"), think, sessionstest.Act("two"),
				sessionstest.Answer("done"),
			}
		}}
		return sessionstest.BackendCase{
			Backend: b, Runtime: "script", Prompt: "quick", Slow: "slow", HandOver: "pass on",
			Acts: b.Acts,
		}
	})
}
