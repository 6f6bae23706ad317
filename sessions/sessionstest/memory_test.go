package sessionstest_test

import (
	"testing"

	"clank/sessions"
	"clank/sessions/sessionstest"
)

func TestTheStoreInMemoryIsAStore(t *testing.T) {
	sessionstest.TestStore(t, func(*testing.T) sessions.Store { return &sessionstest.Store{} })
}

func TestTheScriptedBackendIsABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.Move {
			if task.Prompt == "slow" {
				return []sessionstest.Move{sessionstest.Wait("for ever", make(chan struct{})), sessionstest.Answer("never")}
			}
			if task.Prompt == "pass on" {
				return []sessionstest.Move{sessionstest.HandOver("other", "the rest")}
			}
			think := sessionstest.Move{Step: sessions.Step{Kind: sessions.StepThink, Label: "think"}}
			return []sessionstest.Move{think, sessionstest.Act("one"), think, sessionstest.Act("two"), sessionstest.Answer("done")}
		}}
		return sessionstest.BackendCase{Backend: b, Runtime: "script", Prompt: "quick", Slow: "slow", HandOver: "pass on", Acts: b.Acts}
	})
}
