package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/approval"
)

// question returns a question of a task in a Discord channel, with words from a page.
func question() approval.Question {
	return approval.Question{
		Class: approval.ClassSend, Source: "discord", UserName: "@ada", Task: "t1", Session: "s1",
		Origin: "https://forum.example",
		Text:   "Send or publish something at forum.example", Detail: `<img src=x onerror=alert(1)> OK`,
	}
}

type answered struct {
	answer approval.Answer
	err    error
}

func (r *rig) question(q approval.Question) <-chan answered {
	ch := make(chan answered, 1)
	go func() {
		ctx, done := context.WithTimeout(r.t.Context(), 30*time.Second)
		defer done()
		a, err := r.desk.Ask(ctx, q)
		ch <- answered{a, err}
	}()
	return ch
}

func TestAQuestionIsAskedWhereAPageIsOpen(t *testing.T) {
	r := start(t)
	_, err := r.desk.Ask(t.Context(), question())
	if err == nil || !strings.Contains(err.Error(), "nobody is there") {
		t.Fatalf("without a page: %v", err)
	}
	page := r.read("/api/events", "")
	if snap := decode[api.PageSnapshot](t, page.want("snapshot").data); len(snap.Questions) != 0 {
		t.Errorf("questions: %+v", snap.Questions)
	}
	got := r.question(question())
	ev := decode[approval.Event](t, page.want("question").data)
	if ev.Resolved || ev.Question.Text != question().Text || ev.Question.Until.IsZero() {
		t.Fatalf("event %+v", ev)
	}
	if snap := decode[api.PageSnapshot](t, r.read("/api/events", "").want("snapshot").data); len(snap.Questions) != 1 {
		t.Errorf("another page has the questions %+v", snap.Questions)
	}
	if _, body := r.ask("GET", "/api/questions", ""); !strings.Contains(body, ev.Question.ID) {
		t.Errorf("list: %s", body)
	}
	path := "/api/questions/" + ev.Question.ID
	if status, body := r.ask("POST", path, `{"allow":true,"for_session":true}`); status != 200 {
		t.Errorf("answer: %d %s", status, body)
	}
	if a := <-got; a.err != nil || a.answer.String() != "allowed for this session by the operator" {
		t.Errorf("asked: %+v", a)
	}
	over := decode[approval.Event](t, page.want("question").data)
	if !over.Resolved || over.Answer.By != "the operator" {
		t.Errorf("event %+v", over)
	}
	if status, body := r.ask("POST", path, `{"allow":false}`); status != 409 ||
		!strings.Contains(body, "has been answered") {
		t.Errorf("a second answer: %d %s", status, body)
	}
}

func TestAQuestionIsOnEveryPageUntilOneAnswersIt(t *testing.T) {
	r, c, chat := arrive(t, 1280, 860, "light")
	narrow := c.open(r.server.URL()+"/watches", 360, 740, "dark")
	pages := []*tab{chat, narrow, c.open(r.server.URL()+"/budget", 1280, 860, "light")}
	got := r.question(question())
	for _, tb := range pages {
		tb.waitFor(`document.title.startsWith("(1) ") && document.querySelector("#questions .question .primary")`)
	}
	const shape = `document.querySelectorAll(".question img").length + " " + document.documentElement.scrollWidth`
	check.Equal(t, "pictures out of a text, and the width of the page", narrow.Eval(shape), "0 360")
	pages[2].click("#questions .question .primary")
	if a := <-got; a.err != nil || !a.answer.Allowed {
		t.Errorf("asked: %+v", a)
	}
	for _, tb := range pages {
		tb.waitFor(`!document.title.startsWith("(") && document.getElementById("questions").hidden`)
	}
	c.clean()
}

// modelQuestion returns a question that is answered with text.
func modelQuestion() approval.Question {
	q := question()
	q.Class, q.Text, q.Detail, q.Choices = approval.ClassAnswer, "Answer what the model asks", "Which <b>lamp</b>?",
		[]string{"small", "large"}
	return q
}

func TestAQuestionOfTheModelIsAnsweredInWords(t *testing.T) {
	r, c, chat := arrive(t, 1280, 860, "light")
	narrow := c.open(r.server.URL()+"/watches", 360, 740, "dark")
	for _, tc := range []struct{ do, want string }{
		{`document.querySelector(".question .words button").click()`, "small"},
		{
			`(f => { f.querySelector("input").value = " the one at the door "; f.requestSubmit() })(document.querySelector(".words"))`,
			"the one at the door",
		},
	} {
		got := r.question(modelQuestion())
		narrow.waitFor(`document.querySelector(".question .text")?.textContent === "The model asks: Which <b>lamp</b>?"`)
		chat.waitFor(`document.querySelectorAll(".question .words button").length === 3`)
		if n := narrow.Eval(`document.documentElement.scrollWidth`); n != 360.0 {
			t.Errorf("the page is %v wide", n)
		}
		chat.Eval(tc.do)
		if a := <-got; a.err != nil || a.answer != (approval.Answer{Allowed: true, By: "the operator", Text: tc.want}) {
			t.Errorf("got %+v, want %q", a, tc.want)
		}
		narrow.waitFor(`document.getElementById("questions").hidden`)
	}
	c.clean()
	got := r.question(modelQuestion())
	eventually(t, "it is asked", func() bool { return len(r.desk.Pending()) == 1 })
	path := "/api/questions/" + r.desk.Pending()[0].ID
	if status, body := r.ask("POST", path, `{"allow":true,"text":" "}`); status != http.StatusBadRequest ||
		!strings.Contains(body, "in words") {
		t.Errorf("without words: %d %s", status, body)
	}
	if status, _ := r.ask("POST", path, `{"allow":false,"text":"small"}`); status != http.StatusOK {
		t.Errorf("no answer: %d", status)
	}
	if a := <-got; a.err == nil || a.answer.Text != "" {
		t.Errorf("no answer is %+v", a)
	}
	if status, _ := r.ask("POST", path, `{"allow":true,"text":"small"}`); status != http.StatusConflict {
		t.Errorf("a second answer: %d", status)
	}
}

func TestAnAnswerNeedsALoginAndOurOwnPage(t *testing.T) {
	r := start(t)
	r.read("/api/events", "").want("snapshot")
	q := question()
	q.Class = approval.ClassBuy
	got := r.question(q)
	eventually(t, "it is asked", func() bool { return len(r.desk.Pending()) == 1 })
	path := "/api/questions/" + r.desk.Pending()[0].ID
	for _, tt := range []struct {
		name, body string
		change     change
		want       int
	}{
		{"nobody", `{"allow":true}`, header("Authorization", ""), 401},
		{"another site", `{"allow":true}`, header("Origin", "https://evil.example"), 403},
		{"for ever", `{"allow":true,"for_session":true}`, header("X", "y"), 400},
		{"nonsense", `{"yes":true}`, header("X", "y"), 400},
	} {
		if status, body := r.ask("POST", path, tt.body, tt.change); status != tt.want {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
	if status, _ := r.ask("POST", path, `{}`); status != 200 {
		t.Errorf("an empty answer: %d", status)
	}
	var denied *approval.DeniedError
	if a := <-got; !errors.As(a.err, &denied) {
		t.Errorf("an empty answer is no no: %+v", a)
	}
}

func TestTheFollowerOfATaskAnswersItsQuestions(t *testing.T) {
	r := start(t)
	c := r.client()
	c.OnQuestion = func(ev approval.Event) {
		if ev.Resolved {
			r.backend.letGo()
			return
		}
		if err := c.Answer(t.Context(), ev.Question.ID, api.AnswerRequest{Allow: true}); err != nil {
			t.Error(err)
		}
	}
	begun, err := c.Start(t.Context(), api.TaskRequest{
		Prompt: "hold", Origin: sessions.FromTerminal, Asks: true,
		Allow: []string{"send"},
	})
	check.Must(t, err)
	q := question()
	q.Task = begun.TaskID
	got := r.question(q)
	if rec, err := c.Follow(t.Context(), begun.TaskID, func(sessions.Event) {}); err != nil ||
		rec.State != sessions.TaskDone {
		t.Errorf("the task is %s, %v", rec.State, err)
	}
	if a := <-got; a.err != nil || !a.answer.Allowed {
		t.Errorf("asked: %+v", a)
	}
	eventually(t, "nobody is there after the task", func() bool {
		// While somebody is there, an answer would be waited for.
		ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer done()
		_, err := r.desk.Ask(ctx, q)
		return err != nil && ctx.Err() == nil
	})
}

func TestTheCardOfAQuestion(t *testing.T) {
	r := start(t)
	c := launch(t)
	tb := r.arrive(c, 390, 844, "light")
	got := r.question(question())
	tb.waitFor(`document.querySelector(".question")`)
	for what, want := range map[string]any{
		`document.querySelector(".question .text").textContent`:                                                                                     "Send or publish something at forum.example?",
		`document.querySelector(".question q").textContent`:                                                                                         `<img src=x onerror=alert(1)> OK`,
		`document.querySelectorAll(".question img").length`:                                                                                         0.0,
		`document.querySelector(".question .who").textContent`:                                                                                      "Asked for in Discord by @ada",
		`document.getElementById("ask-live").textContent.startsWith("Send or publish")`:                                                             true,
		`[...document.querySelectorAll(".question button")].map((b) => b.textContent).join()`:                                                       "No,Allow,Allow for this session",
		`document.activeElement.closest(".question") === null`:                                                                                      true,
		`document.documentElement.scrollWidth <= innerWidth`:                                                                                        true,
		`document.querySelector(".question").getAttribute("aria-labelledby").startsWith("question-")`:                                               true,
		`/^\d+ s left$/.test(document.querySelector(".question .left").textContent)`:                                                                true,
		`document.getElementById("composer").getBoundingClientRect().bottom <= innerHeight`:                                                         true,
		`[...document.querySelectorAll(".question button")].every((b) => b.offsetHeight >= 36)`:                                                     true,
		`document.querySelector(".question").getBoundingClientRect().bottom <= document.getElementById("composer").getBoundingClientRect().top + 1`: true,
	} {
		check.Equal(t, what, tb.Eval(what), want)
	}
	tb.Eval(`document.querySelector(".question .primary").focus()`)
	tb.press("Enter")
	tb.waitFor(`!document.querySelector(".question") && document.getElementById("questions").hidden`)
	if a := <-got; a.err != nil || a.answer.ForSession {
		t.Errorf("asked: %+v", a)
	}
	check.Equal(t, "focus is on", tb.Eval(`document.activeElement.id`), "prompt")

	// It is answered elsewhere.
	q := question()
	q.Class = approval.ClassBuy
	got = r.question(q)
	tb.waitFor(`document.querySelectorAll(".question button").length === 2`)
	check.Must(t, r.desk.Answer(r.desk.Pending()[0].ID, approval.Answer{By: "@mod"}))
	tb.waitFor(`!document.querySelector(".question") && document.getElementById("ask-live").textContent === "Not done, as @mod said."`)
	<-got

	// It was asked for privately.
	person := r.desk.Follow(func(approval.Question) bool { return true })
	t.Cleanup(person.Close)
	q.Private = true
	got = r.question(q)
	tb.waitFor(`document.querySelector(".question .text")?.textContent === "Do something that was asked for privately?"`)
	if is := tb.Eval(`[...document.querySelectorAll(".question button")].map((b) => b.textContent).join()`); is != "No" {
		t.Errorf("the buttons are %v, want No alone", is)
	}
	if is := tb.Eval(`document.querySelector(".question").textContent.includes("Only the person who asked")`); is != true {
		t.Error("the card does not say who may answer")
	}
	tb.click(".question button")
	tb.waitFor(`!document.querySelector(".question")`)
	if a := <-got; a.err == nil {
		t.Errorf("asked: %+v", a)
	}
	c.clean()
}

func TestAPrivateQuestionShowsNoWordsAndTheOperatorCanOnlySayNo(t *testing.T) {
	r := start(t)
	page := r.read("/api/events", "")
	page.want("snapshot")
	q := question()
	q.Private = true
	check.Fails(t, check.Err(r.desk.Ask(t.Context(), q)), nil, "nobody is there")
	person := r.desk.Follow(func(q approval.Question) bool { return q.Private }) // where it was asked
	t.Cleanup(person.Close)
	got := r.question(q)
	ev := page.want("question")
	id := decode[approval.Event](t, ev.data).Question.ID
	_, list := r.ask("GET", "/api/questions", "")
	snapshot := r.read("/api/events", "").want("snapshot").data
	for where, data := range map[string]string{"event": ev.data, "list": list, "snapshot": snapshot} {
		for _, word := range []string{"forum.example", "onerror", "Send or publish"} {
			if strings.Contains(data, word) {
				t.Errorf("the %s says %q: %s", where, word, data)
			}
		}
		if !strings.Contains(data, id) || !strings.Contains(data, "@ada") {
			t.Errorf("the %s does not say that a question of @ada waits: %s", where, data)
		}
	}
	path := "/api/questions/" + strings.ToUpper(id)
	if status, body := r.ask("POST", path, `{"allow":true}`); status != 403 || !strings.Contains(body, "asked privately") {
		t.Errorf("the operator allows it: %d %s", status, body)
	}
	if len(r.desk.Pending()) != 1 {
		t.Fatal("that was an answer")
	}
	if status, body := r.ask("POST", path, `{"allow":false}`); status != 200 {
		t.Errorf("the operator says no: %d %s", status, body)
	}
	if a := <-got; a.err == nil || a.err.Error() != "not done: the operator said no" {
		t.Errorf("asked: %+v", a)
	}
}

func TestALongQuestionFitsTheScreen(t *testing.T) {
	r := start(t)
	c := launch(t)
	q := question()
	q.Text = "Buy, order or pay something at a-shop-with-a-very-long-name.example:8443, and hand over personal data " +
		"(e-mail address, name, payment card, postal address) at a-shop-with-a-very-long-name.example:8443"
	q.Detail, q.Class = strings.Repeat("Buy now and subscribe to everything ", 5), approval.ClassSubmit
	for width, height := range map[int]int{1280: 800, 390: 844} {
		tb := r.arrive(c, width, height, "dark")
		got := r.question(q)
		tb.waitFor(`document.querySelector(".question")`)
		for _, what := range []string{
			`document.documentElement.scrollWidth <= innerWidth`,
			`document.getElementById("composer").getBoundingClientRect().bottom <= innerHeight`,
			`[...document.querySelectorAll(".question button")].every((b) => { const a = b.getBoundingClientRect(); return a.top >= 0 && a.bottom <= document.getElementById("composer").getBoundingClientRect().top + 1 })`,
		} {
			if is := tb.Eval(what); is != true {
				t.Errorf("%d wide: %s is %v", width, what, is)
			}
		}
		check.Must(t, r.desk.Answer(r.desk.Pending()[0].ID, approval.Answer{}))
		<-got
	}
	c.clean()
}

func TestPrivateTasksAreNotShown(t *testing.T) {
	r := start(t)
	origin := sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", UserName: "ada",
		Private: true,
	}
	rec, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "lamps at my bank", Origin: origin}, nil)
	if err != nil || rec.State != sessions.TaskDone || len(rec.Images) == 0 {
		t.Fatalf("%+v, %v", rec, err)
	}
	steps, err := r.manager.Steps(t.Context(), rec.ID)
	check.Must(t, err)
	for _, path := range []string{
		"/api/tasks?origin=discord", "/api/tasks?origin=discord&steps=1", "/api/tasks/" + rec.ID, "/api/tasks/" + rec.ID +
			"/events", "/api/sessions",
	} {
		status, body := r.ask(http.MethodGet, path, "")
		check.Equal(t, path+": status", status, http.StatusOK)
		for _, secret := range []string{"bank", "lamp", "Lumen", "results", "image/png"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s tells %q: %s", path, secret, body)
			}
		}
	}
	if _, body := r.ask(http.MethodGet, "/api/tasks?origin=discord", ""); !strings.Contains(body, `"user_name":"ada"`) ||
		!strings.Contains(body, `"state":"done"`) {
		t.Errorf("that there was a task, and whose, is not told: %s", body)
	}
	pictures := []string{"/api/tasks/" + rec.ID + "/images/0"}
	for _, st := range steps {
		pictures = append(pictures, fmt.Sprintf("/api/steps/%s/%d/view", rec.ID, st.N))
	}
	for _, path := range pictures {
		if status, body := r.ask(http.MethodGet, path, ""); status != http.StatusForbidden ||
			!strings.Contains(body, "privately") {
			t.Errorf("%s: %d %q, want a refusal", path, status, body)
		}
	}
}

func TestTheLiveStreamOfAPrivateTaskTellsNothingOfIt(t *testing.T) {
	r := start(t)
	origin := sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", UserName: "ada",
		Private: true,
	}
	begun := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		_, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "hold lamps at my bank", Origin: origin},
			func(ev sessions.Event) {
				if ev.Step != nil && ev.Step.Kind == sessions.StepAct && len(begun) == 0 {
					begun <- ev.Record.ID
				}
			})
		done <- err
	}()
	id := <-begun
	stream := r.read("/api/tasks/"+id+"/events", "")
	told := []event{stream.want("snapshot")}
	q := question()
	q.Task, q.Session, q.Private, q.Text, q.Detail, q.Origin = id, "s-bank", true, "Send something to the bank", "lamp",
		"https://bank.test"
	ctx, stop := context.WithCancelCause(t.Context())
	asked := make(chan error, 1)
	page := r.read("/api/events", "")
	page.want("snapshot")
	room := r.desk.Follow(func(approval.Question) bool { return true }) // where it was asked for
	defer room.Close()
	go func() {
		_, err := r.desk.Ask(ctx, q)
		asked <- err
	}()
	told = append(told, page.want("question"))
	stop(errors.New("the bank said no"))
	told = append(told, page.want("question"))
	check.Fails(t, <-asked, nil, "the bank said no")
	r.backend.letGo()
	for e, ok := stream.next(); ok; e, ok = stream.next() {
		told = append(told, e)
	}
	check.Must(t, <-done)
	steps, tasks := 0, 0
	for _, e := range told {
		steps += strings.Count(e.name, "step")
		tasks += strings.Count(e.name, "task")
		for _, secret := range []string{"bank", "lamp", "Lumen", "results", "image/png", "demo shop"} {
			if strings.Contains(e.data, secret) {
				t.Errorf("the event %s tells %q: %s", e.name, secret, e.data)
			}
		}
	}
	if steps < 4 || tasks < 1 || !strings.Contains(told[len(told)-1].data, `"state":"done"`) {
		t.Errorf("told of %d steps and %d changes of the task, want the whole of it", steps, tasks)
	}
}
