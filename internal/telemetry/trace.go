package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"clank/sessions"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/net/http/httpguts"
	"google.golang.org/protobuf/proto"
)

// Tracer traces each task: its time in the queue, its model calls and tools, and the protocol calls below them. Spans
// follow OpenTelemetry's conventions for generative AI. They contain neither prompts nor addresses.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer

	mu   sync.Mutex
	runs map[string]*taskTrace // running tasks by id
}

// OpenTracer returns a tracer for the collector that OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
// names, or nil if neither does, see https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
func OpenTracer(ctx context.Context, getenv func(string) string, version string, logger *slog.Logger) (*Tracer, error) {
	const protocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	at := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); at == "" && base != "" {
		at = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if at == "" || getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	if p := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv(protocol)); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("%s=%s: clank sends traces by http/protobuf only; collectors take it at port 4318", protocol,
			p)
	}
	setting := "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	if getenv(setting) == "" {
		setting = "OTEL_EXPORTER_OTLP_HEADERS"
	}
	headers, err := parseHeaders(getenv(setting))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	exporter, err := otlptrace.New(ctx, &uploader{at: at, headers: headers})
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", at, err)
	}
	from, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("clank"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logger.Warn("traces are not sent", "to", at, "err", err)
	}))
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(from))
	return &Tracer{provider: p, tracer: p.Tracer("clank"), runs: make(map[string]*taskTrace)}, nil
}

// Close sends the remaining spans. If the collector does not accept them within seconds they are dropped, which is
// logged.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, 3*time.Second)
	defer end()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
	return nil
}

// parseHeaders parses "key=value,key=value" in the format of W3C baggage. Its errors do not contain values, which may
// be secret.
func parseHeaders(text string) (http.Header, error) {
	h := make(http.Header)
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		switch {
		case !found || err != nil:
			return nil, errors.New("write it as key=value,key=value, with % in front of hexadecimal digits only")
		case !httpguts.ValidHeaderFieldName(key):
			return nil, fmt.Errorf("%q cannot be the name of an HTTP header: use letters, digits and hyphens", key)
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("the value of %s has a line break or another control character, which no HTTP header may "+
				"have: remove it, also where it is written as %%0a", key)
		}
		h.Set(key, strings.TrimSpace(value))
	}
	return h, nil
}

// uploader posts spans to a collector. OpenTelemetry's own exporter depends on gRPC, which would add 3 MB to the
// binary.
type uploader struct {
	at      string
	headers http.Header
}

func (*uploader) Start(context.Context) error { return nil }
func (*uploader) Stop(context.Context) error  { return nil }

// UploadTraces sends spans as an ExportTraceServiceRequest, whose encoding equals that of TracesData.
func (u *uploader) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = u.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode/100 != 2 {
		why, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		return fmt.Errorf("%s answers %s: %q", u.at, res.Status, why)
	}
	return nil
}

// taskTrace is the trace of a running task. As a [trace.Span] it is the span of the current step, so that protocol
// calls become its children.
type taskTrace struct {
	trace.Span // of the task
	tracer     trace.Tracer

	mu   sync.Mutex
	step trace.Span // nil between steps
}

func (r *taskTrace) SpanContext() trace.SpanContext {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.step != nil {
		return r.step.SpanContext()
	}
	return r.Span.SpanContext()
}

// begin starts the trace of a task that has started.
func (t *Tracer) begin(r sessions.TaskRecord) {
	if t == nil {
		return
	}
	ctx, span := t.tracer.Start(context.Background(), "invoke_agent "+r.Runtime, trace.WithTimestamp(r.Asked),
		trace.WithAttributes(semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(r.Runtime),
			semconv.GenAIConversationID(r.SessionID), attribute.String("clank.task", r.ID),
			attribute.String("clank.source", string(r.Origin.Kind))))
	_, line := t.tracer.Start(ctx, "queue", trace.WithTimestamp(r.Asked))
	line.End(trace.WithTimestamp(r.Started))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[r.ID] = &taskTrace{Span: span, tracer: t.tracer}
}

// end closes the trace of a task that is final.
func (t *Tracer) end(r sessions.TaskRecord) {
	if t == nil {
		return
	}
	t.mu.Lock()
	run := t.runs[r.ID]
	delete(t.runs, r.ID)
	t.mu.Unlock()
	if run == nil {
		return // it never started
	}
	run.endStep(sessions.Step{}, r.Ended)
	run.SetAttributes(attribute.String("clank.state", string(r.State)), semconv.GenAIRequestModel(r.Model),
		semconv.GenAIUsageInputTokens(r.Usage.InputTokens), semconv.GenAIUsageOutputTokens(r.Usage.OutputTokens))
	if r.State == sessions.TaskFailed {
		run.SetStatus(codes.Error, "")
	}
	run.End(trace.WithTimestamp(r.Ended))
}

// follow returns ctx with the trace of a task, and that trace, or nil if there is none.
func (t *Tracer) follow(ctx context.Context, task string) (context.Context, *taskTrace) {
	if t == nil {
		return ctx, nil
	}
	t.mu.Lock()
	run := t.runs[task]
	t.mu.Unlock()
	if run == nil {
		return ctx, nil
	}
	return trace.ContextWithSpan(ctx, run), run
}

// beginStep starts the span of a model call or a tool call.
func (r *taskTrace) beginStep(s sessions.Step, at time.Time) {
	if r == nil {
		return
	}
	name, what := "chat", []attribute.KeyValue{semconv.GenAIOperationNameChat}
	if s.Kind == sessions.StepAct {
		name, what = "execute_tool "+s.Tool, []attribute.KeyValue{
			semconv.GenAIOperationNameExecuteTool,
			semconv.GenAIToolName(s.Tool),
		}
	}
	_, span := r.tracer.Start(trace.ContextWithSpan(context.Background(), r.Span), name, trace.WithTimestamp(at),
		trace.WithAttributes(what...))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = span
}

func (r *taskTrace) endStep(s sessions.Step, at time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	span := r.step
	r.step = nil
	r.mu.Unlock()
	if span == nil {
		return
	}
	if s.Usage.Calls > 0 {
		span.SetAttributes(semconv.GenAIUsageInputTokens(s.Usage.InputTokens),
			semconv.GenAIUsageOutputTokens(s.Usage.OutputTokens))
	}
	if s.Failed {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(at))
}

// nameModel adds the name of the model to the step of ctx.
func nameModel(ctx context.Context, model string) {
	run, ok := trace.SpanFromContext(ctx).(*taskTrace)
	if !ok {
		return
	}
	provider, name, _ := strings.Cut(model, ":")
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.step != nil {
		run.step.SetName("chat " + name)
		run.step.SetAttributes(semconv.GenAIRequestModel(name), semconv.GenAIProviderNameKey.String(provider))
	}
}
