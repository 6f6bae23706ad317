package server

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/settings"
	"clank/internal/telemetry"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
	"clank/internal/web"
	"clank/sessions"
	"clank/sessions/access"
	"clank/sessions/approval"
	"clank/voice/conversation"

	"github.com/prometheus/client_golang/prometheus"
)

// silentCalls lets calls begin in which nothing happens.
type silentCalls struct{ discordCalls }

func (silentCalls) StartCall(context.Context, conversation.CallInfo) (conversation.CallRunner, error) {
	return silentCall{}, nil
}

func (silentCalls) ChannelOf(string, string) (string, bool) { return roomOne, true }

type silentCall struct{}

func (silentCall) Run(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// seenMetrics are the values of metrics by their names, as they were whenever somebody looked.
type seenMetrics map[string][]float64

// look notes what the metrics are now.
func (m seenMetrics) look(t *testing.T, from prometheus.Gatherer) {
	t.Helper()
	families, err := from.Gather()
	check.Must(t, err)
	now := map[string]float64{}
	for _, f := range families {
		for _, series := range f.GetMetric() {
			now[f.GetName()] += series.GetCounter().GetValue() + series.GetGauge().GetValue() +
				float64(series.GetHistogram().GetSampleCount())
		}
	}
	for name := range m {
		m[name] = append(m[name], now[name])
	}
}

// namesOf returns the names of clank's own metrics, those without a series among them.
func namesOf(r *prometheus.Registry) seenMetrics {
	all, names := make(chan *prometheus.Desc), seenMetrics{}
	go func() {
		r.Describe(all)
		close(all)
	}()
	name := regexp.MustCompile(`fqName: "(clank_\w+)"`)
	for d := range all {
		if m := name.FindStringSubmatch(d.String()); m != nil && m[1] != "clank_build_info" { // which never changes
			names[m[1]] = nil
		}
	}
	return names
}

// post sends something to the dashboard, as the operator.
func (e *effects) post(path, body string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.board+path, strings.NewReader(body))
	check.Must(e.t, err)
	req.Header.Set("Authorization", "Bearer "+e.LocalSecret)
	req.Header.Set("Content-Type", "application/json")
	if got := e.fetch(req); !strings.HasPrefix(got, "2") {
		e.t.Fatalf("%s: %s", path, got)
	}
}

// TestEveryMetricAndKindOfRecordIsSeenToChange has everything happen that is counted or written down.
func TestEveryMetricAndKindOfRecordIsSeenToChange(t *testing.T) {
	e := openEffects(t)
	metrics := e.telemetry.Metrics.Registry
	seen := namesOf(metrics)
	if len(seen) < 15 {
		t.Fatalf("only these metrics were found: %v", seen)
	}
	seen.look(t, metrics)

	d, err := discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, d.Close()) })
	no := llmtest.Fail(http.StatusBadRequest, "bad", "no")
	model := llmtest.NewServer(t, llmtest.Say("The ferry leaves at nine."), no)
	token := d.CreateBot("clank", "secret").Token
	e.mu.Lock()
	e.env["CLANK_DISCORD_API"], e.env["OPENAI_BASE_URL"], e.env["DISCORD_TOKEN"] = d.URL, model.BaseURL(), token
	e.mu.Unlock()
	e.set(map[string]string{"OPENAI_API_KEY": "sk-1", keyAgentModel: `"openai:gpt-5.6"`})
	secret, err := settings.ReadSecret("DISCORD_TOKEN", e.Server.getenv)
	check.Must(t, err)
	if how, _ := e.ConnectBot(t.Context(), secret); !strings.HasPrefix(how, "connected") {
		t.Fatal(how)
	}

	_, err = e.Web.Reader.Read(t.Context(), web.ReadRequest{URL: e.page})
	check.Fails(t, err, nil, "")
	said, err := e.Sessions.Run(t.Context(), sessions.Task{Prompt: "when does the ferry leave?", Origin: operator}, nil)
	check.Must(t, err)
	failed, _ := e.Sessions.Run(t.Context(), sessions.Task{Prompt: "and back?", Origin: operator}, nil)

	calls := silentCalls{discordCalls{e.CallService}}
	e.CallService.registry = &conversation.CallRegistry{Host: calls, Logger: e.logger}
	check.Must(t, check.Err(e.CallService.registry.Join(t.Context(), someone, roomOne)))
	follow := e.Approver.Approvals.Follow(func(approval.Question) bool { return true }) // before anybody asks
	defer follow.Close()
	asked := make(chan error, 1)
	go func() {
		q := sessions.Question{Classes: []string{string(approval.ClassBuy)}, Text: "Buy it", Origin: "a.example"}
		task := sessions.Task{ID: "t", Origin: operator}
		asked <- check.Err(e.Approver.Ask(t.Context(), sessions.Session{ID: "s"}, task, q))
	}()
	ctx, cancelWait := context.WithTimeout(t.Context(), browsertest.Patience)
	defer cancelWait()
	question, err := follow.Next(ctx)
	check.Must(t, err)

	working, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	const waits = `open the demo shop, wait for "a text that never comes"`
	wait := sessions.Task{Prompt: waits, Origin: operator, Model: "plain:steps"}
	stopped, _ := e.Sessions.Run(working, wait, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Kind == sessions.StepAct && strings.Contains(ev.Step.Label, "never comes") {
			seen.look(t, metrics) // while everything goes on
			stop(&cancel.Cause{Reason: cancel.Stopped, By: "Ada"})
		}
	})
	if said.State != sessions.TaskDone || failed.State != sessions.TaskFailed || stopped.State != sessions.TaskStopped {
		t.Errorf("the tasks are %+v, %+v, %+v", said, failed, stopped)
	}
	answer := approval.Answer{Allowed: true, By: "@ada", ByID: "42"}
	check.Must(t, errors.Join(e.Approver.Approvals.Answer(question.Question.ID, answer), <-asked))
	seen.look(t, metrics)
	for name, values := range seen {
		if slices.Max(values) == slices.Min(values) {
			t.Errorf("%s was always %v", name, values)
		}
	}

	page, err := e.tokens.Issue("page", access.ScopePage, time.Hour)
	check.Must(t, err)
	e.post("/api/login", `{"token":"`+page+`"}`)
	e.post("/api/sign-ins/end", `{"all":true}`)
	e.post("/api/setup/key", `{"name":"BRAVE_API_KEY","value":"brave-0123"}`)
	export := e.board + "/api/tasks/" + said.ID + "/export/json"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, export, nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+e.LocalSecret)
	e.fetch(req)
	for _, kind := range telemetry.Kinds {
		list, err := e.Db.Records(t.Context(), telemetry.Query{Kinds: []telemetry.Kind{kind}})
		if check.Must(t, err); len(list) == 0 {
			t.Errorf("nothing was written down of the kind %s", kind)
		} else if kind == telemetry.KindConsent { // who is forgotten is found by their id
			check.Contains(t, string(list[0].Data), `"byID":"42"`)
		}
	}
}
