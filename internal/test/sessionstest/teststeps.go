package sessionstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

func storeSteps(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	r, s := aTask("t1", "s1"), aSession("s1")
	view := &llm.Image{MediaType: "image/png", Data: []byte{9, 8}}
	think := sessions.Step{
		N: 1, Kind: sessions.StepThink, Phase: sessions.PhaseDone, Label: "think", At: day,
		Usage: llm.Usage{Calls: 1, InputTokens: 5, USD: 0.25, Unpriced: true},
	}
	begun := sessions.Step{
		N: 2, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "click",
		Input: []byte(`{"ref":"e1"}`), Label: "click", At: day,
	}
	done := begun
	done.Phase, done.Text, done.Failed, done.URL, done.Title = sessions.PhaseDone, "no such ref", true, "http://a.test/",
		"A"
	done.View, done.At = view, day.Add(time.Second)
	answer := sessions.Step{
		N: 3, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Text: "x", At: day,
		Limit: "step limit of 10", Closed: true,
		Images: []llm.Image{*view}, Memory: []byte(`{}`),
	}
	for _, step := range []sessions.Step{answer, begun, think, done} {
		check.Must(t, st.SaveStep(ctx, r, s, step, 5))
	}
	got, err := st.Steps(ctx, "t1")
	check.Must(t, err)
	done.View = &llm.Image{MediaType: "image/png"}
	answer.Images, answer.Memory = nil, nil
	equal(t, "steps", []sessions.Step{think, done, answer}, got)
	kept, err := st.View(ctx, "t1", 2)
	check.Must(t, err)
	equal(t, "view", *view, kept)
	check.Fails(t, check.Err(st.View(ctx, "t1", 1)), sessions.ErrNotFound)
}

func storeSearch(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	save := func(id string, private bool, answer string, steps ...sessions.Step) {
		t.Helper()
		r := aTask(id, "s1")
		r.Origin.Private, r.Prompt, r.Answer, r.State = private, "Find a lämp \x00 in Bérlin", "", sessions.TaskRunning
		if id == "t1" {
			r.Asked = day.Add(-time.Hour)
		}
		check.Must(t, st.SaveTask(ctx, r, aSession("s1")))
		for _, step := range steps {
			check.Must(t, st.SaveStep(ctx, r, aSession("s1"), step, 1))
		}
		r.Answer, r.State = answer, sessions.TaskDone
		check.Must(t, st.SaveTask(ctx, r, aSession("s1")))
	}
	begun := sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: `click "Chairs"`, At: day}
	done := begun
	done.Phase, done.Title, done.URL, done.Text = sessions.PhaseDone, "Oak chairs", "https://shop.test/seats?q=1", "unseen"
	save("t1", false, "Aurora costs 49 €", begun, done, done)
	save("t2", false, "Harbour")
	save("t3", true, "Aurora", begun, done)
	for words, want := range map[string]int{
		"": 3, "lamp": 2, "LÄMP berl": 2, "aurora": 1, "aurora berlin": 1, "aurora chairs lamp": 1, "shop.test/seats": 1,
		"oak":            1,
		"aurora harbour": 0, "unseen": 0, "ämp": 0, "49 €": 1, `"oak chairs"`: 1, `" - * (`: 3, `aur" OR words:"x`: 0,
		"none": 2, "nowhere": 0,
	} {
		got, err := st.Tasks(ctx, sessions.TaskQuery{Words: words})
		check.Must(t, err)
		check.Equal(t, words+" finds tasks", len(got), want)
	}
	secrets, _ := sessions.Secrets{}.With("Aurora")
	check.Must(t, st.Redact(ctx, "s1", secrets))
	if n, err := st.Prune(ctx, time.Time{}, 1, 1); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for words, want := range map[string]int{"aurora": 0, "chairs": 0, "harbour": 1} {
		if got, err := st.Tasks(ctx, sessions.TaskQuery{Words: words}); len(got) != want || err != nil {
			t.Errorf("then %q finds %d tasks and %v, want %d", words, len(got), err, want)
		}
	}
}

func storeLastSteps(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	f, err := st.TaskFacets(ctx, nil)
	check.Must(t, err)
	equal(t, "facets of none", sessions.TaskFacets{}, f)
	r, s := aTask("t1", "s1"), aSession("s1")
	for n := range 3 {
		step := sessions.Step{
			N: n + 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: fmt.Sprint("step ", n+1),
			At: day,
		}
		if n == 1 {
			step.View = &llm.Image{MediaType: "image/png", Data: []byte{1}}
		}
		check.Must(t, st.SaveStep(ctx, r, s, step, 1))
	}
	r.ID, r.Model, r.Asked, r.Origin.UserName = "t2", "x:z", day.Add(time.Hour), "Ada"
	check.Must(t, st.SaveTask(ctx, r, s))
	got, err := st.LastSteps(ctx, []string{"t1", "t2", "t3"})
	check.Must(t, err)
	equal(t, "last steps", map[string]sessions.LastStep{"t1": {Label: "step 3", View: 2}}, got)
	f, err = st.TaskFacets(ctx, nil)
	check.Must(t, err)
	equal(t, "facets", sessions.TaskFacets{
		Guilds: []string{"g1"}, Runtimes: []string{"local"}, Models: []string{"x:z", "x:y"},
		People: []sessions.Person{{ID: "u1", Name: "Ada"}},
	}, f)
}

func storeStepTogether(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	r, s := aTask("t1", "s1"), aSession("s1")
	check.Must(t, st.SaveTask(ctx, r, s))
	r.Steps, s.URL = 5, "http://elsewhere.test/"
	check.Must(t, st.SaveStep(ctx, r, s, sessions.Step{
		N: 1, Kind: sessions.StepNotice, Phase: sessions.PhaseDone,
		At: day,
	}, 1))
	task, err := st.Task(ctx, "t1")
	check.Must(t, err)
	equal(t, "task", r, task)
	session, err := st.Session(ctx, "s1")
	check.Must(t, err)
	equal(t, "session", s, session)
}

func storeViews(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	save := func(n, views int, data ...byte) {
		t.Helper()
		step := sessions.Step{N: n, Kind: sessions.StepAct, Phase: sessions.PhaseDone, At: day}
		if data != nil {
			step.View = &llm.Image{MediaType: "image/webp", Data: data}
		}
		check.Must(t, st.SaveStep(ctx, aTask("t1", "s1"), aSession("s1"), step, views))
	}
	kept := func() string {
		t.Helper()
		var list strings.Builder
		steps, err := st.Steps(ctx, "t1")
		check.Must(t, err)
		for _, step := range steps {
			view, err := st.View(ctx, "t1", step.N)
			if (err == nil) != (step.View != nil) {
				t.Errorf("step %d: listed view %v, View says %v", step.N, step.View, err)
			}
			if err == nil {
				fmt.Fprintf(&list, "%d:%d ", step.N, view.Data[0])
			}
		}
		return list.String()
	}
	for n := 1; n <= 5; n++ {
		save(n, 2, byte(n))
	}
	equal(t, "newest two of five", "4:4 5:5 ", kept())
	save(6, 2)
	equal(t, "after a step without a view", "4:4 5:5 ", kept())
	save(5, 2, 50)
	equal(t, "after a step was saved again", "4:4 5:50 ", kept())
	save(7, 1, 7)
	equal(t, "with a lower bound", "7:7 ", kept())
}

func storeRedact(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	const word = "Tr0ub4dor&3"
	step := sessions.Step{
		N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "type " + word, Text: "it is " + word,
		Title: word, Input: []byte(`{"text":"` + word + `"}`), URL: "http://a.test/?p=" + word, At: day,
		View: &llm.Image{MediaType: "image/png", Data: []byte{1}},
	}
	for _, id := range []string{"s1", "s2"} {
		s, r := aSession(id), aTask("t-"+id, id)
		memory := json.RawMessage(`["` + word + `"]`)
		s.Title, s.Memory, s.Others = word, memory, map[string]json.RawMessage{"screen": memory}
		r.Prompt, r.Answer, r.Reason = "log in with "+word, word, word
		check.Must(t, st.SaveStep(ctx, r, s, step, 1))
	}
	secrets, _ := sessions.Secrets{}.With(word)
	check.Must(t, st.Redact(ctx, "s1", secrets))
	check.Must(t, st.Redact(ctx, "none", secrets))
	for id, want := range map[string]int{"s1": 0, "s2": 11} {
		s, err := st.Session(ctx, id)
		check.Must(t, err)
		r, err := st.Task(ctx, "t-"+id)
		check.Must(t, err)
		steps, err := st.Steps(ctx, "t-"+id)
		check.Must(t, err)
		all := fmt.Sprintf("%s %s %s %s %+v %s", s.Title, s.Memory, s.Others["screen"], r.Prompt+r.Answer+r.Reason,
			steps, steps[0].Input)
		if got := strings.Count(all, word); got != want || len(steps) != 1 || steps[0].View == nil {
			t.Errorf("%s has the password %d times, want %d: %s", id, got, want, all)
		}
	}
}

func storeRecover(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	states := []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning, sessions.TaskDone, sessions.TaskStopped}
	for i, state := range states {
		r := aTask(fmt.Sprintf("t%d", i), "s0")
		r.State = state
		check.Must(t, st.SaveTask(ctx, r, aSession("s0")))
	}
	for i, state := range []sessions.SessionState{
		sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked,
		sessions.SessionClosed,
	} {
		s := aSession(fmt.Sprintf("s%d", i))
		s.State = state
		check.Must(t, st.SaveSession(ctx, s))
	}
	later := day.Add(time.Hour)
	tasks, parked, err := st.Recover(ctx, "it ended", later)
	check.Must(t, err)
	if tasks != 2 || parked != 2 {
		t.Errorf("recovered %d tasks and %d sessions, want 2 and 2", tasks, parked)
	}
	for i, want := range []sessions.TaskState{
		sessions.TaskInterrupted, sessions.TaskInterrupted, sessions.TaskDone,
		sessions.TaskStopped,
	} {
		r, err := st.Task(ctx, fmt.Sprintf("t%d", i))
		check.Must(t, err)
		check.Equal(t, fmt.Sprintf("task %d", i), r.State, want)
		if want == sessions.TaskInterrupted && (r.Reason != "it ended" || !r.Ended.Equal(later)) {
			t.Errorf("task %d ended at %v because %q", i, r.Ended, r.Reason)
		}
	}
	for i, want := range []sessions.SessionState{
		sessions.SessionParked, sessions.SessionParked, sessions.SessionParked,
		sessions.SessionClosed,
	} {
		s, err := st.Session(ctx, fmt.Sprintf("s%d", i))
		check.Must(t, err)
		if s.State != want || (i < 2 && s.Shared) {
			t.Errorf("session %d = %s, shared %v, want %s and not shared", i, s.State, s.Shared, want)
		}
	}
	tasks, parked, err = st.Recover(ctx, "again", later)
	check.Must(t, err)
	if tasks != 0 || parked != 0 {
		t.Errorf("the second time recovered %d tasks and %d sessions, want none", tasks, parked)
	}
}

// saveMany saves n final tasks, a minute apart, each with a session and a step
// with a view.
func saveMany(t *testing.T, st sessions.Store, n int) {
	t.Helper()
	for i := range n {
		s := aSession(fmt.Sprintf("s%d", i))
		r := aTask(fmt.Sprintf("t%d", i), s.ID)
		r.Asked = day.Add(time.Duration(i) * time.Minute)
		s.LastUsed, s.State = r.Asked, sessions.SessionParked
		step := sessions.Step{
			N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, At: day,
			View: &llm.Image{MediaType: "image/png", Data: []byte{1}},
		}
		check.Must(t, st.SaveStep(t.Context(), r, s, step, 1))
	}
}

func taskIDs(t *testing.T, st sessions.Store) (ids []string) {
	t.Helper()
	all, err := st.Tasks(t.Context(), sessions.TaskQuery{})
	check.Must(t, err)
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

func storePrune(t *testing.T, st sessions.Store) {
	t.Helper()
	ctx := t.Context()
	saveMany(t, st, 5)
	running := aTask("running", "s0")
	running.State, running.Asked = sessions.TaskRunning, day.Add(-time.Hour)
	s0, err := st.Session(ctx, "s0")
	check.Must(t, err)
	check.Must(t, st.SaveTask(ctx, running, s0))

	before := day.Add(3 * time.Minute)
	for _, want := range []int{2, 1, 0} {
		n, err := st.Prune(ctx, before, 0, 2)
		check.Must(t, err)
		check.Equal(t, "pruned", n, want)
	}
	equal(t, "tasks left", []string{"t4", "t3", "running"}, taskIDs(t, st))
	if steps, err := st.Steps(ctx, "t0"); err != nil || len(steps) != 0 {
		t.Errorf("steps of a pruned task = %v, %v", steps, err)
	}
	check.Fails(t, check.Err(st.View(ctx, "t0", 1)), sessions.ErrNotFound)
	for id, want := range map[string]bool{"s0": true, "s1": false, "s2": false, "s3": true, "s4": true} {
		if _, err := st.Session(ctx, id); (err == nil) != want {
			t.Errorf("session %s is there: %v, want %v", id, err == nil, want)
		}
	}
}

func storePruneKeep(t *testing.T, st sessions.Store) {
	t.Helper()
	saveMany(t, st, 5)
	n, err := st.Prune(t.Context(), time.Time{}, 2, 100)
	check.Must(t, err)
	check.Equal(t, "pruned", n, 3)
	equal(t, "tasks left", []string{"t4", "t3"}, taskIDs(t, st))
	if _, err := st.Session(t.Context(), "s0"); err != nil {
		t.Errorf("without a time, sessions stay: %v", err)
	}
}
