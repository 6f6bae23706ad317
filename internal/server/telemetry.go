package server

import (
	"context"
	"strconv"
	"time"

	"clank/browsermgr/chrome"
	"clank/sessions"

	"github.com/prometheus/client_golang/prometheus"
)

// gauges are metrics that are computed when they are collected.
type gauges struct{ server *Server }

var (
	tasksNow     = prometheus.NewDesc("clank_tasks", "Tasks that are not over, by state.", []string{"state"}, nil)
	browsersNow  = prometheus.NewDesc("clank_browsers", "Browsers that run.", nil, nil)
	browserBytes = prometheus.NewDesc("clank_browser_memory_bytes", "Memory of all browsers, shared pages counted once.",
		nil, nil)
	refusals  = prometheus.NewDesc("clank_egress_refused_total", "Requests of pages that were refused.", nil, nil)
	shardsNow = prometheus.NewDesc("clank_discord_connected", "1 for a connection to Discord that stands, else 0.",
		[]string{"shard"}, nil)
	callsNow     = prometheus.NewDesc("clank_calls", "Calls on Discord that clank is in.", nil, nil)
	questionsNow = prometheus.NewDesc("clank_questions", "Questions that wait for a person.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		tasksNow, browsersNow, browserBytes, refusals, questionsNow, shardsNow,
		callsNow,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (g gauges) Collect(to chan<- prometheus.Metric) {
	a := g.server
	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	open := map[sessions.TaskState]int{sessions.TaskQueued: 0, sessions.TaskRunning: 0}
	list, err := a.Sessions.Tasks(ctx, sessions.TaskQuery{
		States: []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning}, Limit: 10_000,
	})
	if err != nil {
		to <- prometheus.NewInvalidMetric(tasksNow, err)
	} else {
		for _, t := range list {
			open[t.State]++
		}
		for state, n := range open {
			gauge(tasksNow, float64(n), string(state))
		}
	}
	running, megabytes := 0, 0
	for _, b := range a.Browsers.Status() {
		if b.Running {
			running, megabytes = running+1, megabytes+chrome.MemoryMB(b.PID)
		}
	}
	gauge(browsersNow, float64(running))
	gauge(browserBytes, float64(megabytes)*(1<<20))
	for _, s := range (discordFacts{a}).State().Shards {
		connected := 0.0
		if s.Connected {
			connected = 1
		}
		gauge(shardsNow, connected, strconv.Itoa(s.Number))
	}
	if a.CallService != nil {
		gauge(callsNow, float64(len(a.CallService.registry.ActiveCalls())))
	}
	gauge(questionsNow, float64(len(a.Approver.Approvals.Pending())))
	to <- prometheus.MustNewConstMetric(refusals, prometheus.CounterValue, float64(a.gate.Refused()))
}
