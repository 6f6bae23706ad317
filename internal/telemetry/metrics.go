package telemetry

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"clank/internal/budget"
	"clank/sessions"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are clank's Prometheus metrics. Names and units follow https://prometheus.io/docs/practices/naming/. Labels
// have few values and never identify a person.
type Metrics struct {
	Registry                         *prometheus.Registry // other collectors can be registered here
	tasks, steps, calls, tokens, usd *prometheus.CounterVec
	taskTime, waitTime, stepTime     *prometheus.HistogramVec
	stopTime                         prometheus.Histogram
	mu                               sync.Mutex
	held                             map[int64]budget.Entry // model calls in progress, by id
	tools                            map[string]bool        // tool names with a series of their own
}

// maxTools bounds the number of tool series, because models invent names.
const maxTools = 100

// NewMetrics returns metrics that start at zero.
func NewMetrics(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "clank_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, from float64, n int, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "clank_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(from, 2, n),
		}, labels)
	}
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		held:     make(map[int64]budget.Entry),
		tools:    make(map[string]bool),
		tasks: counter("tasks_total", "Tasks that ended, by where they came from and how they ended.", "source", "runtime",
			"state"),
		steps: counter("steps_total", "Steps that ended, by tool and outcome (ok, failed).", "runtime", "tool", "outcome"),
		calls: counter("model_calls_total", "Calls of models that ended, by how sure their cost is.", "model", "purpose",
			"state"),
		tokens: counter("model_tokens_total", "Tokens of calls of models, in and out.", "model", "purpose"),
		usd: counter("model_cost_usd_total", "Cost of calls of models in US dollars, by the price list.", "model",
			"purpose"),
		taskTime: histogram("task_duration_seconds", "From the start of a task to its end.", 0.5, 12, "source", "runtime"),
		waitTime: histogram("task_wait_seconds", "From the request to the start of a task.", 0.05, 14, "source"),
		stepTime: histogram("step_duration_seconds", "From the decision for a step to its result.", 0.01, 14, "runtime",
			"kind"),
		stopTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "clank_stop_seconds", Help: "From a stop to the end of what ran.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "clank_build_info", Help: "Always 1; the version is the label.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.Registry.MustRegister(
		m.tasks, m.steps, m.calls, m.tokens, m.usd, m.taskTime, m.waitTime, m.stepTime, m.stopTime, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{Timeout: 10 * time.Second})
}

// endTask counts a task that is final.
func (m *Metrics) endTask(r sessions.TaskRecord) {
	source := string(r.Origin.Kind)
	m.tasks.WithLabelValues(source, r.Runtime, string(r.State)).Inc()
	if !r.Started.IsZero() {
		m.waitTime.WithLabelValues(source).Observe(r.Started.Sub(r.Asked).Seconds())
		m.taskTime.WithLabelValues(source, r.Runtime).Observe(r.Ended.Sub(r.Started).Seconds())
	}
}

// Backend returns b with its steps and stops counted and traced.
func (r *Recorder) Backend(runtime string, b sessions.Backend) sessions.Backend {
	return &observedBackend{b, r.Metrics, r.Tracer, runtime}
}

type observedBackend struct {
	sessions.Backend
	metrics *Metrics
	tracer  *Tracer
	runtime string
}

func (b *observedBackend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step,
	error] {
	return func(yield func(sessions.Step, error) bool) {
		ctx, run := b.tracer.follow(ctx, t.ID)
		stopped := make(chan time.Time, 1)
		release := context.AfterFunc(ctx, func() { stopped <- time.Now() })
		defer func() {
			if !release() {
				b.metrics.stopTime.Observe(time.Since(<-stopped).Seconds())
			}
		}()
		begun := time.Now()
		for step, err := range b.Backend.Run(ctx, s, t) {
			now := time.Now()
			switch {
			case err != nil:
			case step.Phase == sessions.PhaseBegun:
				begun = now
				run.beginStep(step, now)
			case step.Kind == sessions.StepAct || step.Kind == sessions.StepThink:
				b.metrics.endStep(b.runtime, step, now.Sub(begun))
				run.endStep(step, now)
			}
			if !yield(step, err) {
				return
			}
		}
	}
}

func (m *Metrics) endStep(runtime string, s sessions.Step, took time.Duration) {
	m.stepTime.WithLabelValues(runtime, string(s.Kind)).Observe(took.Seconds())
	if s.Kind == sessions.StepAct {
		outcome := "ok"
		if s.Failed {
			outcome = "failed"
		}
		m.steps.WithLabelValues(runtime, m.toolLabel(s.Tool), outcome).Inc()
	}
}

func (m *Metrics) toolLabel(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.tools[name] && len(m.tools) >= maxTools {
		return "other"
	}
	m.tools[name] = true
	return name
}

// Ledger returns l wrapped so that model calls recorded there are counted.
func (m *Metrics) Ledger(l budget.Ledger) budget.Ledger { return &countedLedger{l, m} }

type countedLedger struct {
	budget.Ledger
	metrics *Metrics
}

func (l *countedLedger) Reserve(ctx context.Context, e budget.Entry, may func([]budget.Sum) error) (int64, error) {
	id, err := l.Ledger.Reserve(ctx, e, may)
	if err == nil && e.Model != "" {
		l.metrics.mu.Lock()
		l.metrics.held[id] = e
		l.metrics.mu.Unlock()
		nameModel(ctx, e.Model)
	}
	return id, err
}

func (l *countedLedger) Settle(
	ctx context.Context, id int64, real budget.Amount, state budget.EntryState, unpriced bool,
) error {
	m := l.metrics
	m.mu.Lock()
	e, call := m.held[id]
	delete(m.held, id)
	m.mu.Unlock()
	if call {
		model, purpose := e.Model, e.Account.Purpose
		m.calls.WithLabelValues(model, purpose, string(state)).Add(float64(real.Calls))
		m.tokens.WithLabelValues(model, purpose).Add(float64(real.Tokens))
		m.usd.WithLabelValues(model, purpose).Add(real.Money.USD())
	}
	return l.Ledger.Settle(ctx, id, real, state, unpriced)
}
