package telemetry_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/cancel"
	"clank/internal/budget"
	"clank/internal/telemetry"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	goproto "google.golang.org/protobuf/proto"
)

// collect serves an OTLP collector, and returns its address and what it was sent.
func collect(t *testing.T) (addr string, sent func() []*tracepb.ResourceSpans) {
	t.Helper()
	var mu sync.Mutex
	var all []*tracepb.ResourceSpans
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var req collector.ExportTraceServiceRequest
		if err = errors.Join(err, goproto.Unmarshal(body, &req)); err != nil || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Authorization") != "Bearer t0ken" {
			http.Error(w, "no traces", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, req.GetResourceSpans()...)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []*tracepb.ResourceSpans {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// reload is a request of Chromium's protocol.
type reload struct{}

func (reload) ProtoReq() string { return "Page.reload" }

// worker asks a model and then the browser, as backends do.
type worker struct {
	ledger  budget.Ledger
	browser *cdp.Session
}

func (w *worker) Run(ctx context.Context, _ sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		think := sessions.Step{N: 1, Kind: sessions.StepThink, Phase: sessions.PhaseBegun}
		if !yield(think, nil) {
			return
		}
		_, err := w.ledger.Reserve(ctx, budget.Entry{
			Day: "2026-03-01", Model: "openai:gpt-6-sol", Account: llm.Account{Task: t.ID, Purpose: "browse"},
		}, func([]budget.Sum) error { return nil })
		if err != nil {
			yield(sessions.Step{}, err)
			return
		}
		think.Phase, think.Usage = sessions.PhaseDone, llm.Usage{Calls: 1, InputTokens: 70, OutputTokens: 7}
		act := sessions.Step{
			N: 2, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "click",
			Label: "click my secret",
		}
		if !yield(think, nil) || !yield(act, nil) {
			return
		}
		err = w.browser.Do(ctx, reload{})
		act.Phase, act.Failed, act.Text = sessions.PhaseDone, err != nil, "my secret"
		if !yield(act, nil) {
			return
		}
		yield(sessions.Step{N: 3, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Text: "my secret"}, nil)
	}
}

func (*worker) Close(context.Context, string) error { return nil }

func (*worker) Park(context.Context, string, bool) (bool, error) { return true, nil }

// refusingBrowser returns a browser that refuses one request.
func refusingBrowser(t *testing.T) *cdp.Session {
	t.Helper()
	requests, to, err := os.Pipe()
	check.Must(t, err)
	from, answers, err := os.Pipe()
	check.Must(t, err)
	c := cdp.New(cdp.NewPipe(from, to), cdp.Options{CallTimeout: time.Minute})
	c.Start(func(cdp.Event) {})
	var browser sync.WaitGroup
	browser.Go(func() {
		buf := make([]byte, 1000)
		if _, err := requests.Read(buf); err == nil {
			_, _ = io.WriteString(answers, `{"id":1,"sessionId":"s","error":{"code":-32000,"message":"no"}}`+"\x00")
		}
	})
	t.Cleanup(func() {
		c.Close()
		browser.Wait()
		_ = requests.Close()
		_ = answers.Close()
	})
	return c.Session("s", errors.New("gone"))
}

func TestATaskIsATraceOfItsLineModelToolsAndProtocolCalls(t *testing.T) {
	addr, sent := collect(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	tracer, err := telemetry.OpenTracer(t.Context(), func(k string) string {
		return map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": addr + "/",
			"OTEL_EXPORTER_OTLP_HEADERS":  "Authorization=Bearer%20t0ken",
		}[k]
	}, "v1", slog.New(slog.DiscardHandler))
	check.Must(t, err)
	db := sqlitetest.Open(t)
	r := &telemetry.Recorder{
		Store: db, Metrics: telemetry.NewMetrics("v1"), Tracer: tracer, Logger: slog.New(slog.DiscardHandler),
	}
	m := &sessions.Manager{
		Store: r.SessionStore(db), DefaultRuntime: "local", Scopes: new(cancel.Scopes),
		Backends: map[string]sessions.Backend{"local": r.Backend("local", &worker{r.Metrics.Ledger(db), refusingBrowser(t)})},
		Limits:   func() sessions.Limits { return sessions.Limits{} },
	}
	check.Must(t, m.Open(t.Context()))
	rec, err := m.Run(t.Context(), sessions.Task{Prompt: "my secret", Model: "openai:gpt-6-sol"}, nil)
	check.Must(t, err)
	check.Must(t, m.Close(t.Context()))
	check.Must(t, tracer.Close(t.Context()))

	spans, parents := make(map[string]*tracepb.Span), make(map[string]string)
	for _, from := range sent() {
		check.Lacks(t, prototext.Format(from), "secret")
		check.Contains(t, prototext.Format(from.GetResource()), "deployment.environment.name")
		for _, scope := range from.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				spans[s.GetName()] = s
			}
		}
	}
	for name, s := range spans {
		for above, p := range spans {
			if string(s.GetParentSpanId()) == string(p.GetSpanId()) {
				parents[name] = above
			}
		}
	}
	const root = "invoke_agent local"
	for name, above := range map[string]string{
		root: "", "queue": root, "chat gpt-6-sol": root, "execute_tool click": root, "Page.reload": "execute_tool click",
	} {
		s, there := spans[name]
		if !there || parents[name] != above {
			t.Errorf("%s is there: %t, below %q, want %q", name, there, parents[name], above)
		}
		if got, want := s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, strings.HasSuffix(above, "click") ||
			strings.HasSuffix(name, "click"); got != want {
			t.Errorf("%s failed: %t, want %t", name, got, want)
		}
		if string(s.GetTraceId()) != string(spans[root].GetTraceId()) {
			t.Errorf("%s is in another trace", name)
		}
	}
	check.Equal(t, "spans", len(spans), 5)
	attributes := prototext.Format(spans["chat gpt-6-sol"])
	for _, want := range []string{
		"gen_ai.provider.name", "openai", "gen_ai.usage.input_tokens", "70",
		"gen_ai.operation.name",
	} {
		check.Contains(t, attributes, want)
	}
	if got := time.Unix(0, int64(spans[root].GetStartTimeUnixNano())); !got.Equal(rec.Asked) {
		t.Errorf("the trace starts at %v, the task was asked for at %v", got, rec.Asked)
	}
}

func TestTracesAreMadeOnlyForACollector(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want string // part of the error
	}{
		"nowhere": {nil, ""},
		"disabled": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
			"",
		},
		"none": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
			"OTEL_TRACES_EXPORTER":        "none",
		}, ""},
		"bad headers": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
			"OTEL_EXPORTER_OTLP_HEADERS":  "token",
		}, "OTLP_HEADERS: write it as key=value"},
		"a line break": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "token=a%0d%0aHost:b",
		}, "OTEL_EXPORTER_OTLP_TRACES_HEADERS: the value of token has a line break"},
		"a bad name": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "my token=a",
		}, `OTEL_EXPORTER_OTLP_HEADERS: "my token" cannot be the name`},
		"grpc": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
			"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		}, "http/protobuf only"},
	} {
		t.Run(name, func(t *testing.T) {
			tracer, err := telemetry.OpenTracer(t.Context(), func(k string) string { return tc.env[k] }, "v1", slog.Default())
			check.Equal(t, "tracer", tracer, nil)
			check.Outcome(t, name, err, tc.want)
			check.Must(t, tracer.Close(t.Context()))
		})
	}
}

func FuzzHeadersAreSentOrRefused(f *testing.F) {
	for _, text := range []string{
		"Authorization=Bearer%20t0ken", "a=b, c = d,", "token", "a=%0d%0ab", "a b=c", "=",
		"a=%zz",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := telemetry.ParseHeaders(text)
		if err != nil {
			return
		}
		var sent strings.Builder
		check.Must(t, h.Write(&sent))
		read, err := textproto.NewReader(bufio.NewReader(strings.NewReader(sent.String() + "\r\n"))).ReadMIMEHeader()
		if diff := cmp.Diff(h, http.Header(read)); err != nil || diff != "" {
			t.Errorf("a server reads other headers of %q: %v (-set +read):\n%s", sent.String(), err, diff)
		}
	})
}
