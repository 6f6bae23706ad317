package sessionstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// TestStore checks the contract of [sessions.Store]. open returns a new, empty store.
func TestStore(t *testing.T, open func(t *testing.T) sessions.Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(*testing.T, sessions.Store)
	}{
		{"what is not there is not found", storeNotFound},
		{"a session comes back as it was saved", storeSession},
		{"a task comes back as it was saved", storeTask},
		{"sessions are found by query", storeSessionQuery},
		{"tasks are found by query", storeTaskQuery},
		{"people find what they see", storeSight},
		{"tasks are found by words, private ones are not", storeSearch},
		{"how far tasks have come, and what they differ in", storeLastSteps},
		{"steps come back by number", storeSteps},
		{"a step is saved with its task and session", storeStepTogether},
		{"only the newest views are kept", storeViews},
		{"unfinished work is recovered", storeRecover},
		{"old tasks are pruned within bounds", storePrune},
		{"pruning keeps the newest", storePruneKeep},
		{"what is redacted does not come back", storeRedact},
		{"an ended context is obeyed", storeContext},
		{"many use it at once", storeConcurrent},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

// day is the time of everything in these tests. It has a fraction, which a store must preserve to the millisecond,
// and is not in UTC.
var day = time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.FixedZone("", 3600))

func aSession(id string) sessions.Session {
	return sessions.Session{
		ID: id, Runtime: "local", State: sessions.SessionIdle, Title: "Lamps & more", URL: "http://shop.test/?q=ä",
		Origin: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: "g1", Channel: "c1", User: "u1", UserName: "ada",
			Private: true,
		},
		Profile: "work",
		Memory:  []byte(`{"turns":[1,2]}`),
		Others:  map[string]json.RawMessage{"screen": []byte(`{"response":"r1"}`), "other": []byte("not JSON")},
		Shared:  true, Steps: 7, Created: day.Add(-time.Hour), LastUsed: day,
		Usage: llm.Usage{
			Calls: 3, InputTokens: 1000, CachedTokens: 400, CacheWriteTokens: 30, OutputTokens: 50,
			ReasoningTokens: 20, USD: 0.0125, Unpriced: true,
		},
	}
}

func aTask(id, session string) sessions.TaskRecord {
	return sessions.TaskRecord{
		Task: sessions.Task{
			ID: id, SessionID: session, Prompt: "find\na \x00 lamp 🛋", Runtime: "local", Model: "x:y", MaxSteps: 9, MaxUSD: 0.25,
			Headed: true,
			Origin: aSession(session).Origin,
			Files:  []sessions.File{{ID: "f", Name: "cv ü.pdf", Type: "application/pdf", Size: 3, Path: "/a/b"}},
		},
		Downloads: []sessions.File{{ID: "d", Name: "setup.exe", Size: 1 << 40, Executable: true}},
		State:     sessions.TaskDone, Answer: "here", Reason: "none", Closed: true, Steps: 4,
		Images: []llm.Image{
			{MediaType: "image/png", Data: []byte{1, 2, 0, 3}, Caption: "a lamp"},
			{MediaType: "image/webp", Data: []byte{4}},
		},
		Usage: llm.Usage{Calls: 1, USD: 0.5}, Asked: day, Started: day.Add(time.Second), Ended: day.Add(time.Minute),
	}
}

// equal compares saved and loaded data. Times are compared as instants.
func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	sameTime := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	check.Diff(t, what, got, want, sameTime)
}

func storeNotFound(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	_, sErr := st.Session(ctx, "nope")
	_, tErr := st.Task(ctx, "nope")
	_, vErr := st.View(ctx, "nope", 1)
	for what, err := range map[string]error{"session": sErr, "task": tErr, "view": vErr} {
		if !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("%s: err = %v, want ErrNotFound", what, err)
		}
	}
	steps, err := st.Steps(ctx, "nope")
	if err != nil || len(steps) != 0 {
		t.Errorf("steps = %v, %v, want none", steps, err)
	}
}

func storeSession(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx, want := t.Context(), aSession("s1")
	check.Must(t, st.SaveSession(ctx, want))
	got, err := st.Session(ctx, "s1")
	check.Must(t, err)
	equal(t, "session", want, got)

	want.State, want.Memory, want.Others, want.Shared, want.URL = sessions.SessionClosed, nil, nil, false, ""
	check.Must(t, st.SaveSession(ctx, want))
	got, err = st.Session(ctx, "s1")
	check.Must(t, err)
	equal(t, "session saved again", want, got)
}

func storeTask(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx, s := t.Context(), aSession("s1")
	queued := sessions.TaskRecord{Task: aTask("t1", "s1").Task, State: sessions.TaskQueued, Asked: day, Position: 3}
	check.Must(t, st.SaveTask(ctx, queued, s))
	got, err := st.Task(ctx, "t1")
	check.Must(t, err)
	queued.Position = 0
	equal(t, "queued task", queued, got)
	if !got.Started.IsZero() || !got.Ended.IsZero() {
		t.Errorf("started %v, ended %v, want zero times", got.Started, got.Ended)
	}

	want := aTask("t1", "s1")
	s.Title = "later"
	check.Must(t, st.SaveTask(ctx, want, s))
	got, err = st.Task(ctx, "t1")
	check.Must(t, err)
	equal(t, "final task", want, got)
	session, err := st.Session(ctx, "s1")
	check.Must(t, err)
	equal(t, "session of the task", s, session)

	all, err := st.Tasks(ctx, sessions.TaskQuery{})
	check.Must(t, err)
	want.Images = nil
	equal(t, "listed task, without pictures", []sessions.TaskRecord{want}, all)
}

func storeSessionQuery(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	for i, change := range []func(*sessions.Session){
		func(*sessions.Session) {},
		func(s *sessions.Session) { s.Origin.Channel = "c2" },
		func(s *sessions.Session) { s.Origin.Guild, s.State = "g2", sessions.SessionClosed },
		func(s *sessions.Session) { s.Origin.User = "u2" },
		func(s *sessions.Session) { s.Origin = sessions.Origin{Kind: sessions.FromTerminal, Channel: "cli"} },
		func(s *sessions.Session) { s.State = sessions.SessionParked },
	} {
		s := aSession(fmt.Sprintf("s%d", i))
		s.LastUsed = day.Add(time.Duration(i) * time.Minute)
		change(&s)
		check.Must(t, st.SaveSession(ctx, s))
	}
	of := aSession("").Origin
	terminal := sessions.Origin{Kind: sessions.FromTerminal, Channel: "cli", UserName: "whatever"}
	for _, tc := range []struct {
		name string
		q    sessions.SessionQuery
		want []string
	}{
		{"all, last used first", sessions.SessionQuery{}, []string{"s5", "s4", "s3", "s2", "s1", "s0"}},
		{"at most two", sessions.SessionQuery{Limit: 2}, []string{"s5", "s4"}},
		{"of one channel and user", sessions.SessionQuery{Of: &of}, []string{"s5", "s0"}},
		{"of nobody in particular", sessions.SessionQuery{Of: &terminal}, []string{"s4"}},
		{"of a door", sessions.SessionQuery{Kind: sessions.FromTerminal}, []string{"s4"}},
		{"of a guild", sessions.SessionQuery{Guild: "g1"}, []string{"s5", "s3", "s1", "s0"}},
		{
			"by state",
			sessions.SessionQuery{States: []sessions.SessionState{sessions.SessionClosed, sessions.SessionParked}},
			[]string{"s5", "s2"},
		},
	} {
		got, err := st.Sessions(ctx, tc.q)
		check.Must(t, err)
		var ids []string
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		equal(t, tc.name, tc.want, ids)
	}
}

func storeTaskQuery(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	for i, change := range []func(*sessions.TaskRecord){
		func(*sessions.TaskRecord) {},
		func(r *sessions.TaskRecord) { r.Origin.User = "u2" },
		func(r *sessions.TaskRecord) { r.Origin.Guild, r.Origin.Channel = "g2", "c2" },
		func(r *sessions.TaskRecord) { r.State = sessions.TaskFailed },
		func(r *sessions.TaskRecord) { r.Origin.Kind, r.SessionID = sessions.FromDashboard, "s2" },
		func(r *sessions.TaskRecord) { r.Runtime, r.Model, r.Usage.USD = "screen", "openai:gpt", 2 },
	} {
		r := aTask(fmt.Sprintf("t%d", i), "s1")
		r.Asked = day.Add(time.Duration(i) * time.Minute)
		change(&r)
		check.Must(t, st.SaveTask(ctx, r, aSession(r.SessionID)))
	}
	at := func(i int) time.Time { return day.Add(time.Duration(i) * time.Minute) }
	for _, tc := range []struct {
		name string
		q    sessions.TaskQuery
		want []string
	}{
		{"all, last asked first", sessions.TaskQuery{}, []string{"t5", "t4", "t3", "t2", "t1", "t0"}},
		{"at most one", sessions.TaskQuery{Limit: 1}, []string{"t5"}},
		{"of a runtime", sessions.TaskQuery{Runtime: "screen"}, []string{"t5"}},
		{"of a model", sessions.TaskQuery{Model: "openai:gpt"}, []string{"t5"}},
		{"that cost so much", sessions.TaskQuery{MinUSD: 0.6}, []string{"t5"}},
		{"of a user", sessions.TaskQuery{User: "u2"}, []string{"t1"}},
		{"of a guild", sessions.TaskQuery{Guild: "g2"}, []string{"t2"}},
		{"of a channel", sessions.TaskQuery{Channel: "c2"}, []string{"t2"}},
		{"of a session", sessions.TaskQuery{Session: "s2"}, []string{"t4"}},
		{"from a door", sessions.TaskQuery{Kind: sessions.FromDashboard}, []string{"t4"}},
		{
			"by state",
			sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskFailed, sessions.TaskQueued}},
			[]string{"t3"},
		},
		{
			"of a time, with its begin and without its end",
			sessions.TaskQuery{Since: at(1), Before: at(3)},
			[]string{"t2", "t1"},
		},
		{"of nothing", sessions.TaskQuery{User: "u2", Guild: "g2"}, nil},
	} {
		got, err := st.Tasks(ctx, tc.q)
		check.Must(t, err)
		var ids []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		equal(t, tc.name, tc.want, ids)
	}
}

// storeSight checks which tasks and sessions a person sees.
func storeSight(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	var all []sessions.Origin
	at := sessions.FromDiscord
	for _, o := range []sessions.Origin{
		{Kind: sessions.FromDashboard, User: "u1", Channel: "c1"},
		{Kind: sessions.FromTerminal, Guild: "g1", Channel: "c1"},
		{Kind: at, Guild: "g1", Channel: "c1"},
		{Kind: at, Guild: "g1", Channel: "c2"},
		{Kind: at, Guild: "g2", Channel: "c3"},
		{Kind: at, Channel: "c1"},
		{Kind: at, Channel: "d1"},
	} {
		for _, user := range []string{o.User, "u1", "u2"} {
			for _, o.Private = range []bool{true, false} {
				o.User = user
				all = append(all, o)
			}
		}
	}
	for i, o := range all {
		s, r := aSession(fmt.Sprintf("s%02d", i)), aTask(fmt.Sprintf("t%02d", i), fmt.Sprintf("s%02d", i))
		s.Origin, r.Origin, r.Prompt = o, o, "lamps"
		check.Must(t, st.SaveTask(ctx, r, s))
	}
	for name, sight := range map[string]*sessions.Sight{
		"the operator": nil, "nobody": {}, "somebody without a name": {Guilds: []string{"g1"}, Channels: []string{"c1"}},
		"of one channel": {User: "u1", Guilds: []string{"g1"}, Channels: []string{"c1"}},
		"of no channel":  {User: "u1", Guilds: []string{"g2"}}, "of another channel": {
			User: "u2", Guilds: []string{"g1"},
			Channels: []string{"c2", "c3"},
		},
		"with a name that is none": {User: `x') OR 1 --`, Guilds: []string{`"]`}, Channels: []string{"%"}},
	} {
		var want, words, tasks, ss []string
		for i, o := range all {
			if sight.Includes(o) {
				want = append(want, fmt.Sprintf("%02d", i))
				if !o.Private {
					words = append(words, fmt.Sprintf("%02d", i))
				}
			}
		}
		found, err := st.Tasks(ctx, sessions.TaskQuery{SeenBy: sight})
		check.Must(t, err)
		for _, r := range found {
			tasks = append(tasks, r.ID[1:])
		}
		equal(t, name+": tasks", want, tasks)
		tasks = nil
		found, err = st.Tasks(ctx, sessions.TaskQuery{SeenBy: sight, Words: "lamp"})
		check.Must(t, err)
		for _, r := range found {
			tasks = append(tasks, r.ID[1:])
		}
		equal(t, name+": tasks by words", words, tasks)
		list, err := st.Sessions(ctx, sessions.SessionQuery{SeenBy: sight})
		check.Must(t, err)
		for _, s := range list {
			ss = append(ss, s.ID[1:])
		}
		equal(t, name+": sessions", want, ss)
		f, err := st.TaskFacets(ctx, sight)
		check.Must(t, err)
		if len(want) == 0 {
			equal(t, name+": facets", sessions.TaskFacets{}, f)
		}
	}
	f, err := st.TaskFacets(ctx, &sessions.Sight{User: "u2", Guilds: []string{"g2"}, Channels: []string{"c3"}})
	check.Must(t, err)
	equal(t, "servers of one server's member", []string{"g2"}, f.Guilds)
}

func storeContext(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	check.Fails(t, st.SaveSession(ctx, aSession("s1")), context.Canceled, "save session")
	check.Fails(t, st.SaveStep(ctx, aTask("t1", "s1"), aSession("s1"), sessions.Step{N: 1}, 1), context.Canceled,
		"save step")
	check.Fails(t, check.Err(st.Session(t.Context(), "s1")), sessions.ErrNotFound)
}

func storeConcurrent(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	var wg sync.WaitGroup
	errs := make(chan error, 1000)
	for w := range 8 {
		wg.Go(func() {
			s, r := aSession(fmt.Sprintf("s%d", w)), aTask(fmt.Sprintf("t%d", w), fmt.Sprintf("s%d", w))
			for n := 1; n <= 10; n++ {
				r.Steps, s.Steps = n, n
				step := sessions.Step{
					N: n, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "go", At: day,
					View: &llm.Image{MediaType: "image/png", Data: []byte{byte(n)}},
				}
				errs <- st.SaveStep(ctx, r, s, step, 3)
				_, err := st.Tasks(ctx, sessions.TaskQuery{Limit: 3})
				errs <- err
				_, err = st.Steps(ctx, r.ID)
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		check.Must(t, err)
	}
	all, err := st.Tasks(ctx, sessions.TaskQuery{})
	check.Must(t, err)
	if len(all) != 8 || slices.ContainsFunc(all, func(r sessions.TaskRecord) bool { return r.Steps != 10 }) {
		t.Errorf("tasks = %+v, want 8 with 10 steps each", all)
	}
}
