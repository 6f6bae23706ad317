package assistant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// hearing makes a task run in the last session, which hears what is said to it.
func (f *tasks) hearing(heard *[]string) {
	f.last = &sessions.Session{ID: "runs", State: sessions.SessionRunning, LastUsed: noon}
	f.say = func(session, text string) (string, error) {
		if session != "runs" {
			return "", sessions.ErrNotFound
		}
		*heard = append(*heard, text)
		return "t1", nil
	}
}

func TestABrowseOfASessionThatRunsIsToldToItsTask(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){
		browses(`{"query":"take the red one","session_id":"runs"}`), says("I passed it on."),
	}}
	ts := answering(sessions.TaskRecord{})
	var heard []string
	ts.hearing(&heard)
	if a := reply(t, newBrain(m, ts), turn("the red one")); a.Text != "I passed it on." {
		t.Errorf("answer = %+v", a)
	}
	if diff := cmp.Diff([]string{"take the red one"}, heard); diff != "" || len(ts.ran) != 0 {
		t.Errorf("heard (-want +got):\n%s; tasks begun: %v", diff, ts.ran)
	}
	if !strings.Contains(m.asked[0].System, "Session in which a task runs runs,") {
		t.Errorf("the model was not told that a task runs: %s", m.asked[0].System)
	}
	if raw := fmt.Sprint(*m.asked[1].Messages[len(m.asked[1].Messages)-1].Parts[0].Result); !strings.Contains(raw, "It was told your query") {
		t.Errorf("the model was told %s", raw)
	}
}

func TestABrowseThatMayNotBeToldIsRefused(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){browses(`{"query":"x","session_id":"theirs"}`), says("no")}}
	ts := answering(sessions.TaskRecord{})
	ts.say = func(string, string) (string, error) {
		return "", fmt.Errorf("task t9 belongs to bob: %w", sessions.ErrNotOwner)
	}
	reply(t, newBrain(m, ts), turn("x"))
	if len(ts.ran) != 0 {
		t.Errorf("it was begun all the same: %v", ts.ran)
	}
}

func TestWithoutAModelARunningTaskIsTold(t *testing.T) {
	ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
	var heard []string
	ts.hearing(&heard)
	if a := reply(t, newBrain(nil, ts), turn("click the second one")); !strings.HasPrefix(a.Text, "Passed on") {
		t.Errorf("answer = %+v", a)
	}
	if diff := cmp.Diff([]string{"click the second one"}, heard); diff != "" || len(ts.ran) != 0 {
		t.Errorf("heard (-want +got):\n%s; tasks begun: %v", diff, ts.ran)
	}
	ts.say = nil // it has just ended
	if a := reply(t, newBrain(nil, ts), turn("click the second one")); a.Text != "ok" || len(ts.ran) != 1 || ts.ran[0].SessionID != "runs" {
		t.Errorf("answer = %+v after %v", a, ts.ran)
	}
}

func TestWithoutAModelTheLastSessionIsGoneOnWith(t *testing.T) {
	for said, want := range map[string]string{
		"continue":                     "continue",
		"Continue: click the 2nd link": "click the 2nd link",
		"please go on, read":           "read",
		"go on":                        "go on",
		"weiter":                       "weiter",
		"Mach weiter mit der zweiten":  "mit der zweiten",
		"keep going!":                  "keep going!",
		"continúa":                     "continúa",
	} {
		ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
		ts.last = &sessions.Session{ID: "old", State: sessions.SessionParked, LastUsed: noon.Add(-3 * time.Hour)}
		reply(t, newBrain(nil, ts), turn(said))
		if len(ts.ran) != 1 || ts.ran[0].SessionID != "old" || ts.ran[0].Prompt != want {
			t.Errorf("%q: ran %+v, want %q in the last session", said, ts.ran, want)
		}
	}
	for _, said := range []string{"open continue.com", "weitere Lampen", "continued fractions"} {
		ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
		ts.last = &sessions.Session{ID: "old", State: sessions.SessionParked, LastUsed: noon.Add(-3 * time.Hour)}
		reply(t, newBrain(nil, ts), turn(said))
		if len(ts.ran) != 1 || ts.ran[0].SessionID != "" || ts.ran[0].Prompt != said {
			t.Errorf("%q: ran %+v, want a new session", said, ts.ran)
		}
	}
}

func TestThatThereIsNothingToGoOnWithIsSaid(t *testing.T) {
	ts := answering(sessions.TaskRecord{})
	a := reply(t, newBrain(nil, ts), turn("continue"))
	if !strings.HasPrefix(a.Text, "There is no session of yours here to go on with") || len(ts.ran) != 0 {
		t.Errorf("answer = %+v after %v", a, ts.ran)
	}
}

func TestTheModelKnowsTheNewestSessions(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){says("ok")}}
	ts := answering(sessions.TaskRecord{})
	ts.last = &sessions.Session{ID: "abc123", State: sessions.SessionIdle, Title: "Lamps", URL: "https://shop.example/", LastUsed: noon}
	ts.more = []sessions.Session{
		{ID: "zzz999", Origin: sessions.Origin{Private: true}},
		{ID: "def456", State: sessions.SessionParked, Title: "Trains\nto Rome", URL: "https://rail.example/"},
	}
	reply(t, newBrain(m, ts), turn("which trains did you find?"))
	got := m.asked[0].System
	if !strings.Contains(got, "def456 (parked): Trains to Rome https://rail.example/") || strings.Contains(got, "zzz999") {
		t.Errorf("instructions: %s", got)
	}
}

func FuzzWhateverIsSaidWithoutAModelIsDoneOnceAndNotEmpty(f *testing.F) {
	for _, seed := range []string{"continue", "continue: read", "weiter,", "go on\nand read", " \u00a0", "CONTINUÍA!"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
		ts.last = &sessions.Session{ID: "old", State: sessions.SessionIdle, LastUsed: noon.Add(-time.Hour)}
		reply(t, newBrain(nil, ts), turn(said))
		if len(ts.ran) > 1 || len(ts.ran) == 1 && strings.TrimSpace(ts.ran[0].Prompt) == "" {
			t.Fatalf("%q: ran %+v", said, ts.ran)
		}
	})
}
