package main

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
)

// openPage returns a turn of the model that opens a page.
func openPage(url string) llmtest.Turn { return toolTurn("browser_open", map[string]any{"url": url}) }

// clickOn returns a turn that clicks the newest element which the model was shown
// with this role and name, such as `button "Go on"`.
func clickOn(element string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		return toolTurn("browser_click", map[string]any{"ref": shownRef(req, element)})(req)
	}
}

// shownRef finds the ref of an element in the newest result that has it.
func shownRef(req llmtest.Request, element string) string {
	for _, m := range slices.Backward(req.Messages) {
		for _, p := range slices.Backward(m.Parts) {
			if p.Result == nil {
				continue
			}
			if ref := refOf(p.Result.Text, element); ref != "none" {
				return ref
			}
		}
	}
	return "none"
}

// showScreenshotTurn is a turn that takes a picture for the person.
var showScreenshotTurn = toolTurn("browser_screenshot", map[string]any{"show": true})

// answering returns a turn that answers with what fits the pattern in what the model was told last.
func answering(format, pattern string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		return llmtest.Say(fmt.Sprintf(format, regexp.MustCompile(pattern).FindString(req.ToolText())))(req)
	}
}

// ferryTurns returns what the model does to find out about the ferry on the first page.
func ferryTurns(url string) []llmtest.Turn {
	return []llmtest.Turn{
		openPage(url), clickOn(`button "Go on"`), showScreenshotTurn, showFirstPicture,
		answering("The %s.", `ferry at 10:40`),
	}
}

// showFirstPicture chooses what the answer shows.
var showFirstPicture = llmtest.Use("show_pictures", `{"pictures":["1","e999"],"captions":["The ferries"]}`)

// testDeadline returns a context for one wait.
func testDeadline(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// checkRequestsValid fails the test if a request to the model server broke the vendor's
// published schema, or one of its answers did.
func checkRequestsValid(t *testing.T, model *llmtest.Server) {
	t.Helper()
	for _, p := range model.Problems() {
		t.Errorf("model server: %s", p)
	}
}

// final waits until the message is as it stays: without a button to stop.
func (r *serverFixture) final(t *testing.T, id string) discordtest.Message {
	t.Helper()
	m, err := r.discord.WaitEdit(testDeadline(t), id, func(m discordtest.Message) bool {
		return m.Flags&discordtest.FlagLoading == 0 && !m.HasButton("Stop")
	})
	check.Must(t, err)
	return m
}

// command uses /clank browse and returns the message that answers, as it stays.
func (r *serverFixture) command(t *testing.T, who discordtest.User, args discordtest.Args) discordtest.Message {
	t.Helper()
	it, err := r.discord.SlashCommand(r.room, who, "clank browse", args)
	check.Must(t, err)
	it, err = r.discord.WaitAnswer(testDeadline(t), it)
	check.Must(t, err)
	return r.final(t, it.Original.ID)
}

// mention writes to the bot and returns its reply as it stays.
func (r *serverFixture) mention(t *testing.T, who discordtest.User, text string) discordtest.Message {
	t.Helper()
	asked, err := r.discord.SendMessage(r.room, who, r.bot.Mention()+" "+text)
	check.Must(t, err)
	reply, err := r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
		return m.Author.ID == r.bot.ID && m.Reference != nil && m.Reference.MessageID == asked.ID
	})
	check.Must(t, err)
	return r.final(t, reply.ID)
}

// afterPicture returns the turn, held back until the people in the room have seen a
// picture of the page: edits may not follow each other at once.
func (r *serverFixture) afterPicture(t *testing.T, turn llmtest.Turn) llmtest.Turn {
	t.Helper()
	ctx := testDeadline(t)
	return func(req llmtest.Request) llmtest.Reply {
		if err := r.discord.Wait(ctx, "a picture on the way", func() bool {
			return slices.ContainsFunc(r.ownMessages(), func(m discordtest.Message) bool { return len(m.Attachments) > 0 })
		}); err != nil {
			t.Error(err)
		}
		return turn(req)
	}
}

// ownMessages lists the bot's messages in the room.
func (r *serverFixture) ownMessages() (list []discordtest.Message) {
	for _, m := range r.discord.Messages(r.room) {
		if m.Author.ID == r.bot.ID {
			list = append(list, m)
		}
	}
	return list
}

// onePicture fails the test unless the message has one good picture.
func onePicture(t *testing.T, m discordtest.Message) {
	t.Helper()
	if len(m.Attachments) != 1 {
		t.Fatalf("the message has %d files, want one picture", len(m.Attachments))
	}
	goodPicture(t, m.Attachments[0].Data)
}

func goodPicture(t *testing.T, data []byte) {
	t.Helper()
	im, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("the picture of %d bytes cannot be read: %v", len(data), err)
	}
	if size := im.Bounds().Size(); size.X < 200 || size.Y < 200 {
		t.Errorf("the picture is %v, want that of a page", size)
	}
}

func commandBecomesOneMessage(t *testing.T, whole *serverFixture) {
	t.Helper()
	for name, tc := range map[string]struct{ model, path string }{
		"chat completions": {"compatible:scripted", "/v1/chat/completions"},
		"responses":        {"openai:gpt-5.6", "/v1/responses"},
	} {
		t.Run(name, func(t *testing.T) {
			r := whole.inNewRoom(t)
			r.updateSettings(map[string]any{keyModel: tc.model})
			script := ferryTurns(r.site.URL)
			script[4] = r.afterPicture(t, script[4])
			r.script.Set(script)
			m := r.command(t, r.ada, discordtest.Args{"task": "when does the ferry go?"})
			if !strings.Contains(m.Content, "The ferry at 10:40.") {
				t.Fatalf("the task ends with %q", m.Content)
			}
			r.site.awaitHit(t, "/clicked")
			onePicture(t, m)
			check.Equal(t, "the picture is described as", m.Attachments[0].Description, "The ferries")
			check.Equal(t, "the bot wrote messages", len(r.ownMessages()), 1)
			r.wasWatched(t, m)
			r.reached(t, tc.path, 5)
		})
	}
}

// wasWatched fails the test unless the message showed the work as it went on.
func (r *serverFixture) wasWatched(t *testing.T, m discordtest.Message) {
	t.Helper()
	var steps, pictures, buttons int
	versions := r.discord.History(m.ID)
	for _, v := range versions {
		if strings.Contains(v.Content, "Step ") || strings.Contains(v.Content, "Starting.") {
			steps++
		}
		if v.HasButton("Stop") {
			buttons++
			pictures += len(v.Attachments)
		}
	}
	if steps == 0 || pictures == 0 || buttons == 0 {
		t.Errorf("of %d versions of the message %d told a step, %d pictures were shown on the way, %d had a button, want "+
			"some of each",
			len(versions), steps, pictures, buttons)
	}
}

// reached fails the test unless the model was asked n times at the path, with the key, and saw what it should.
func (r *serverFixture) reached(t *testing.T, path string, n int) {
	t.Helper()
	reqs := r.requestsInRoom()
	if len(reqs) != n {
		t.Fatalf("the model was asked %d times, want %d", len(reqs), n)
	}
	for i, req := range reqs {
		if req.Path != path || len(req.Tools) == 0 {
			t.Errorf("request %d went to %s with %d tools", i, req.Path, len(req.Tools))
		}
		if got := req.Header.Get("Authorization"); path == "/v1/responses" && got != "Bearer "+testKey {
			t.Errorf("request %d showed %q, want the key", i, got)
		}
	}
	if path == "/v1/responses" && !seesPicture(reqs[n-1]) {
		t.Error("a model with eyes was not shown the picture it took")
	}
}

func seesPicture(req llmtest.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
			return p.Image != nil || p.Result != nil && len(p.Result.Images) > 0
		})
	})
}

// openSession is how the brain is told which session can be gone on with.
var openSession = regexp.MustCompile(`Open session ([a-z0-9]+)`)

func goesOnInTheSameSession(t *testing.T, r *serverFixture) {
	t.Helper()
	r.updateSettings(map[string]any{keyBrain: "compatible:gpt-4o"})
	browse := func(query string) llmtest.Turn {
		return func(req llmtest.Request) llmtest.Reply {
			in := map[string]any{"query": query}
			if id := openSession.FindStringSubmatch(req.System); id != nil {
				in["session_id"] = id[1]
			}
			return toolTurn("browser_browse", in)(req)
		}
	}
	r.script.Set([]llmtest.Turn{
		browse("open the page with two ways"),
		openPage(r.site.URL + "/choice"), showScreenshotTurn, llmtest.Say("There are two: First and Second."),
		llmtest.Say("Two ways: First and Second."),
	})
	first := r.mention(t, r.ada, "what ways are there?")
	check.Equal(t, "the first reply says", first.Content, "Two ways: First and Second.")
	onePicture(t, first)

	r.script.Set([]llmtest.Turn{
		browse("click the second one"),
		clickOn(`button "Second"`), showScreenshotTurn, answering("Clicked: %s", `ferry at 11:20`),
		llmtest.Say("The second way has a ferry at 11:20."),
	})
	second := r.mention(t, r.ada, "now click the second one")
	check.Equal(t, "the second reply says", second.Content, "The second way has a ferry at 11:20.")
	onePicture(t, second)
	r.site.awaitHit(t, "/two")

	tasks := r.tasks(t)
	if len(tasks) != 2 || tasks[0].SessionID != tasks[1].SessionID {
		t.Errorf("tasks = %+v, want two in one session", tasks)
	}
	check.Equal(t, "asked were", r.whoWasAsked(),
		"gpt-4o scripted scripted scripted gpt-4o gpt-4o scripted scripted scripted gpt-4o")
	if reqs := r.requestsInRoom(); !seesPicture(reqs[len(reqs)-1]) {
		t.Error("the brain did not see the picture")
	}
	check.Equal(t, "the bot wrote messages", len(r.ownMessages()), 2)
}

func brainWorksTheBrowser(t *testing.T, r *serverFixture) {
	t.Helper()
	r.updateSettings(map[string]any{keyBrain: "compatible:gpt-4o", "interaction.brain.browserTool": true})
	r.script.Set([]llmtest.Turn{
		toolTurn("browser", map[string]any{"action": "open", "url": r.site.URL + "/choice"}),
		toolTurn("browser", map[string]any{"action": "snapshot", "interactive": true}),
		func(req llmtest.Request) llmtest.Reply {
			request := map[string]any{"kind": "click", "ref": shownRef(req, `button "Second"`)}
			return toolTurn("browser", map[string]any{"action": "act", "request": request})(req)
		},
		toolTurn("browser", map[string]any{"action": "screenshot"}),
		toolTurn("browser", map[string]any{"action": "snapshot"}),
		answering("It says: %s", `ferry at 11:20`),
	})
	check.Equal(t, "the reply says", r.mention(t, r.ada, "press the second one").Content, "It says: ferry at 11:20")
	r.site.awaitHit(t, "/two")
	reqs := r.requestsInRoom()
	last := reqs[len(reqs)-1]
	if !seesPicture(last) {
		t.Error("the brain did not see the picture")
	}
	if text := last.ToolText(); strings.Count(text, "EXTERNAL_UNTRUSTED_CONTENT") < 4 {
		t.Errorf("what the page says is not marked: %s", text)
	}
}

// tasks lists what was asked for in the room, last asked first.
func (r *serverFixture) tasks(t *testing.T) []sessions.TaskRecord {
	t.Helper()
	list, err := r.server.Sessions.Tasks(t.Context(), sessions.TaskQuery{Channel: r.room.ID, Limit: 20})
	check.Must(t, err)
	return list
}

// whoWasAsked names the models in the order they were asked.
func (r *serverFixture) whoWasAsked() string {
	var names []string
	for _, req := range r.requestsInRoom() {
		names = append(names, req.Model)
	}
	return strings.Join(names, " ")
}

func taskOfThePageIsTold(t *testing.T, r *serverFixture) {
	t.Helper()
	client := &api.Client{
		Base: r.openDashboard(t).URL(), Token: r.server.LocalSecret,
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	r.script.Set(ferryTurns(r.site.URL))
	started, err := client.Start(testDeadline(t), api.TaskRequest{Prompt: "when does the ferry go?"})
	check.Must(t, err)
	var told []string
	rec, err := client.Follow(testDeadline(t), started.TaskID, func(ev sessions.Event) {
		s := ev.Step
		if s != nil && s.Phase == sessions.PhaseDone && s.Kind != sessions.StepThink && s.Kind != sessions.StepNotice {
			told = append(told, s.Label)
		}
	})
	check.Must(t, err)
	r.site.awaitHit(t, "/clicked")
	want := []string{
		"open " + strings.TrimPrefix(r.site.URL, "http://"), `click "Go on"`, "take a screenshot",
		"choose 2 pictures for the answer", "answer",
	}
	check.Diff(t, "steps", told, want)
	if rec.State != sessions.TaskDone || rec.Answer != "The ferry at 10:40." || len(rec.Images) != 1 {
		t.Fatalf("the task ended %s with %q and %d pictures", rec.State, rec.Answer, len(rec.Images))
	}
	goodPicture(t, rec.Images[0].Data)
	check.Equal(t, "the picture shows", rec.Images[0].Caption, "The ferries")
	view, err := client.Task(testDeadline(t), started.TaskID)
	if err != nil || len(view.Steps) == 0 || view.Task.SessionID != started.SessionID {
		t.Errorf("the task is kept as %+v, %v", view, err)
	}
}
