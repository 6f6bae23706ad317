package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/llm"
	"clank/sessions"
)

// secretForm is a form with all that counts as a password.
const secretForm = `<!doctype html><title>Sign in</title>
	<label>Word<input type=password oninput="document.title='typed'"></label>
	<label>Code<input autocomplete="one-time-code" value=123456></label>
	<label>Again<input autocomplete="section-x new-password" value=hunter3></label>
	<label>Dots<input style="-webkit-text-security:disc" value=hunter4></label>
	<label>Number<input autocomplete="one-time-code" type=number></label>
	<label>Name<input value=Ada></label>
	<button onclick="document.querySelector('input').type='text'">Show</button>`

func TestPasswordFieldsAreMarkedAndNeverShown(t *testing.T) {
	tab := show(t, secretForm)
	word := refOf(t, tab, `"Word"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: word, Text: "hunter2"})
	check := func() {
		t.Helper()
		for _, opts := range []page.SnapshotOptions{{}, {Interactive: true}} {
			got := snapshot(t, tab, opts).Text
			if strings.Contains(got, "hunter") || strings.Contains(got, "123456") {
				t.Errorf("snapshot shows a secret: %s", got)
			}
			for _, name := range []string{"Word", "Code", "Again", "Dots", "Number"} {
				if !strings.Contains(got, `"`+name+`" [password]`) {
					t.Errorf("%s is not marked in %s", name, got)
				}
			}
			browsertest.WantContains(t, got, `- textbox "Name" [ref=`, ": Ada")
		}
	}
	check()
	// A page that shows what was typed shows it to the person at the screen only.
	click(t, tab, refOf(t, tab, "Show"))
	check()
	if text, err := tab.Text(t.Context(), word); err != nil || strings.Contains(text, "hunter") {
		t.Errorf("got text %q, %v; want a mask", text, err)
	}
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"Number"`), Text: "hunter5"})
	if err == nil || strings.Contains(err.Error(), "hunter5") {
		t.Errorf("got %v, want the refused value kept out", err)
	}
}

// agentTab is a tab as the agent loop uses it.
type agentTab struct{ *page.Tab }

func (a agentTab) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	if kind == "navigate" {
		_, err := a.Navigate(ctx, args["url"].(string))
		return nil, err
	}
	_, err := a.Tab.Act(ctx, page.Action{Kind: page.Kind(kind), Ref: args["ref"].(string), Text: args["text"].(string)})
	return nil, err
}

// Assess implements [sessions.Page]: nothing sets anything off.
func (agentTab) Assess(context.Context, string, map[string]any) (sessions.Assessment, error) {
	return sessions.Assessment{}, nil
}

// ActIfUnchanged implements [sessions.Page].
func (a agentTab) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, _ string) ([]string, bool, error) {
	notes, err := a.Act(ctx, kind, args)
	return notes, true, err
}

func (a agentTab) Snapshot(ctx context.Context, interactive bool, maxChars int) (string, error) {
	snap, err := a.Tab.Snapshot(ctx, page.SnapshotOptions{Interactive: interactive, MaxChars: maxChars})
	return snap.Text, err
}

func (a agentTab) Screenshot(ctx context.Context) (sessions.Screenshot, error) {
	data, err := a.Tab.Screenshot(ctx, page.ScreenshotOptions{})
	return sessions.Screenshot{Image: llm.Image{MediaType: "image/png", Data: data}}, err
}

func (a agentTab) State(context.Context) (url, title string, tabs []string, err error) {
	return a.URL(), a.Title(), nil, nil
}

// Open and Close make it its own browser.
func (a agentTab) Open(context.Context, sessions.PageRequest) (sessions.Page, bool, error) {
	return a, false, nil
}

func (a agentTab) Close(context.Context, string) error { return nil }

// typist is a model that opens a page, types into the first field it is shown, and is done.
type typist struct {
	url    string
	said   *strings.Builder // all that it was told, its own words left out
	rounds *int
}

func (typist) Name() string   { return "test:typist" }
func (typist) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (m typist) Generate(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	m.said.Reset()
	for _, msg := range req.Messages {
		for _, part := range msg.Parts {
			if part.Result != nil {
				m.said.WriteString(part.Result.Text)
			}
		}
	}
	*m.rounds++
	call := func(name, input string) (llm.Reply, error) {
		return llm.Reply{Stop: llm.StopTools, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Call: &llm.ToolCall{ID: fmt.Sprint("c", *m.rounds), Name: name, Input: json.RawMessage(input)}},
		}}}, nil
	}
	switch *m.rounds {
	case 1:
		return call("browser_open", fmt.Sprintf(`{"url":%q}`, m.url))
	case 2:
		ref := regexp.MustCompile(`"Geheimnis".*\[ref=(e\d+)\]`).FindStringSubmatch(m.said.String())
		if ref == nil {
			return llm.Reply{}, fmt.Errorf("no field in what the page shows: %s", m.said)
		}
		return call("browser_type", fmt.Sprintf(`{"ref":%q,"text":"hunter2"}`, ref[1]))
	}
	return llm.Reply{Stop: llm.StopEnd, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "done"}}}}, nil
}

func TestAgentKeepsPasswordsOutOfWhatPeopleRead(t *testing.T) {
	// Nothing in its name says what the field is for.
	srv := site(t, map[string]string{"/": `<!doctype html><title>x</title><label>Geheimnis<input type=password onchange="out.textContent='taken'"></label><p id=out>`})
	tab := openTab(t, "")
	var said strings.Builder
	model := typist{url: srv.URL, said: &said, rounds: new(int)}
	agent := &browseagent.Agent{
		Browser: agentTab{tab},
		Model:   func(context.Context, string) (llm.Model, error) { return model, nil },
	}
	typed := false
	for step, err := range agent.Run(browsertest.Within(t, 30*time.Second), sessions.Session{ID: "s1"}, sessions.Task{ID: "k1", Prompt: "sign in"}) {
		browsertest.Must(t, err)
		if strings.Contains(step.Label+step.Text+string(step.Input)+string(step.Memory), "hunter2") {
			t.Errorf("step %d shows the password: %+v", step.N, step)
		}
		if step.Failed {
			t.Errorf("step %d failed: %s", step.N, step.Text)
		}
		typed = typed || step.Label == `type •••• into "Geheimnis"`
	}
	if !typed {
		t.Error("no step is labelled as typing a masked text")
	}
	if got := said.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "taken") || !strings.Contains(got, "[password]") {
		t.Errorf("the model was told %s, want the outcome without the password", got)
	}
	browsertest.WantJS(t, tab, "document.querySelector('input').value", `"hunter2"`)
}
