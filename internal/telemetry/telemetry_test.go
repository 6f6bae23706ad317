package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/cancel"
	"clank/internal/budget"
	"clank/internal/telemetry"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/internal/test/sqlitetest"
	"clank/llm"
	"clank/sessions"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// logged returns the lines that have a kind, by kind.
func logged(t *testing.T, log string) map[string][]map[string]any {
	t.Helper()
	all := make(map[string][]map[string]any)
	for line := range strings.Lines(log) {
		var v map[string]any
		check.Must(t, json.Unmarshal([]byte(line), &v))
		if kind, ok := v["kind"].(string); ok {
			all[kind] = append(all[kind], v)
		}
	}
	return all
}

// scrape returns the metrics as Prometheus reads them.
func scrape(t *testing.T, m *telemetry.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(rec.Body)
	check.Must(t, err)
	return got
}

// value returns the sum of the series of a metric that have all of these labels ("name=value").
func value(families map[string]*dto.MetricFamily, name string, labels ...string) (sum float64) {
	for _, series := range families[name].GetMetric() {
		have := make(map[string]bool)
		for _, l := range series.GetLabel() {
			have[l.GetName()+"="+l.GetValue()] = true
		}
		fits := true
		for _, l := range labels {
			fits = fits && have[l]
		}
		if fits {
			sum += series.GetCounter().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func TestTaskResultsAreRecordedLoggedAndCounted(t *testing.T) {
	db, log := sqlitetest.Open(t), new(check.Log)
	r := &telemetry.Recorder{
		Store: db, Metrics: telemetry.NewMetrics("v1"), Logger: slog.New(slog.NewJSONHandler(log, nil)),
	}
	hold := make(chan struct{})
	script := map[string][]sessionstest.ScriptStep{
		"good":    {sessionstest.Act("open a page"), sessionstest.Act("read"), sessionstest.Answer("done")},
		"private": {sessionstest.Act("open my bank"), sessionstest.Answer("it is so")},
		"bad":     {sessionstest.Act("open a page"), {Err: errors.New("the site is gone")}},
		"stop":    {sessionstest.Wait("wait", hold), sessionstest.Answer("never")},
	}
	backend := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
		return script[task.Prompt]
	}}
	m := &sessions.Manager{
		Store: r.SessionStore(db), DefaultRuntime: "local_browser_agent", Scopes: new(cancel.Scopes),
		Backends: map[string]sessions.Backend{"local_browser_agent": r.Backend("local_browser_agent", backend)},
		Limits:   func() sessions.Limits { return sessions.Limits{} },
	}
	check.Must(t, m.Open(t.Context()))
	defer func() { check.Must(t, m.Close(context.Background())) }()
	run := func(prompt string, private bool) sessions.TaskRecord {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		rec, _ := m.Run(ctx, sessions.Task{
			Prompt: prompt, Model: "openai:gpt-6-sol",
			Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "g1", Channel: "c1", User: "ada", Private: private},
		}, func(ev sessions.Event) {
			if prompt == "stop" && ev.Step != nil {
				stop(&cancel.Cause{Reason: cancel.Stopped, By: "@ada"})
			}
		})
		return rec
	}
	ids := make(map[string]string)
	for _, prompt := range []string{"good", "bad", "stop"} {
		ids[prompt] = run(prompt, false).ID
	}
	ids["private"] = run("private", true).ID

	got := logged(t, log.String())
	for kind, n := range map[telemetry.Kind]int{
		telemetry.KindBrowseCall: 3, telemetry.KindBrowseFailed: 1, telemetry.KindToolStep: 4, telemetry.KindSessionTurn: 4,
	} {
		if len(got[string(kind)]) != n {
			t.Errorf("%d lines of the kind %s, want %d:\n%s", len(got[string(kind)]), kind, n, log.String())
		}
		kept, err := db.Records(t.Context(), telemetry.Query{Kinds: []telemetry.Kind{kind}})
		if check.Must(t, err); len(kept) != n {
			t.Errorf("%d records of the kind %s, want %d", len(kept), kind, n)
		}
	}
	failed := got["browser_browse_failed"][0]
	data := failed["metadata"].(map[string]any)
	for name, want := range map[string]any{
		"provider": "openai", "model": "gpt-6-sol", "runtime": "local_browser_agent", "source": "discord", "steps": 1.0,
		"errorName": "failed", "hitStepLimit": false,
	} {
		if data[name] != want {
			t.Errorf("%s = %v, want %v in %v", name, data[name], want, data)
		}
	}
	check.Contains(t, data["errorMessage"].(string), "the site is gone")
	if failed["task"] != ids["bad"] || failed["guild_id"] != "g1" || failed["user_id"] != "ada" ||
		data["sessionKey"] != failed["session"] {
		t.Errorf("whose it is: %v", failed)
	}
	private, err := db.Records(t.Context(), telemetry.Query{Task: ids["private"]})
	if check.Must(t, err); len(private) != 3 {
		t.Fatalf("%d records of the private task, want 3", len(private))
	}
	for _, rec := range private {
		if strings.Contains(string(rec.Data), "bank") || strings.Contains(string(rec.Data), "http") {
			t.Errorf("the record of a private task tells %s", rec.Data)
		}
	}
	families := scrape(t, r.Metrics)
	for _, tc := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"clank_tasks_total", []string{"state=done", "source=discord"}, 2},
		{"clank_tasks_total", []string{"state=failed"}, 1},
		{"clank_tasks_total", []string{"state=stopped"}, 1},
		{"clank_steps_total", []string{"outcome=ok"}, 4},
		{"clank_task_duration_seconds", nil, 4},
		{"clank_task_wait_seconds", nil, 4},
		{"clank_step_duration_seconds", []string{"kind=act"}, 4},
		{"clank_stop_seconds", nil, 1},
	} {
		check.Equal(t, fmt.Sprintf("%s%v", tc.name, tc.labels), value(families, tc.name, tc.labels...), tc.want)
	}
}

func TestModelCallsAreCountedByCost(t *testing.T) {
	m := telemetry.NewMetrics("v1")
	l := m.Ledger(sqlitetest.Open(t))
	e := budget.Entry{
		Day: "2026-03-01", Model: "openai:gpt-6-sol", Account: llm.Account{Task: "t", Purpose: "browse"},
		Amount: budget.Amount{Calls: 1, Tokens: 5000, Money: budget.Dollars(1)},
	}
	id, err := l.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
	check.Must(t, err)
	real := budget.Amount{Calls: 1, Tokens: 700, Money: budget.Dollars(0.25)}
	check.Must(t, l.Settle(t.Context(), id, real, budget.StateSettled, false))
	check.Must(t, l.Settle(t.Context(), id, real, budget.StateSettled, false)) // counts once
	check.Fails(t, check.Err(l.Reserve(t.Context(), e, func([]budget.Sum) error { return io.EOF })), io.EOF)
	families := scrape(t, m)
	for name, want := range map[string]float64{
		"clank_model_calls_total": 1, "clank_model_tokens_total": 700, "clank_model_cost_usd_total": 0.25,
	} {
		check.Equal(t, name, value(families, name, "model=openai:gpt-6-sol", "purpose=browse"), want)
	}
}

func TestToolsThatModelsMakeUpShareASeries(t *testing.T) {
	m := telemetry.NewMetrics("v1")
	var steps []sessionstest.ScriptStep
	for i := range 500 {
		s := sessionstest.Act("x")
		s.Step.Tool = "made_up_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		steps = append(steps, s)
	}
	b := (&telemetry.Recorder{Metrics: m}).Backend("local",
		&sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return append(steps, sessionstest.Answer("done"))
		}})
	for _, err := range b.Run(t.Context(), sessions.Session{ID: "s"}, sessions.Task{ID: "t"}) {
		check.Must(t, err)
	}
	families := scrape(t, m)
	if n := len(families["clank_steps_total"].GetMetric()); n > 101 {
		t.Errorf("%d series of tools", n)
	}
	check.Equal(t, "steps of other tools", value(families, "clank_steps_total", "tool=other"), 400)
}
