package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/sessions"
)

var benchMinutes = flag.Float64("dashboard.minutes", 0, "measure the dashboard of fifty servers for so long")

// What the dashboard is measured with, and what it may take.
const (
	benchServers, benchSessions, benchTasks, benchStepsEach = 50, 500, 10_000, 10
	benchViewers                                            = 20

	maxPageTime, maxSearchTime, maxEventTime = 100 * time.Millisecond, 150 * time.Millisecond, 250 * time.Millisecond
	maxHeapGrowth                            = 32 << 20
)

// durations count how often things of each kind took how many tenths of a millisecond: an hour has millions of events.
type durations struct {
	mu  sync.Mutex
	all map[string]*counts
}

type counts struct {
	total int
	of    [10 * 10_000]int32 // by tenths of a millisecond; the last is for all that took longer
}

func (d *durations) add(kind string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = make(map[string]*counts)
	}
	if d.all[kind] == nil {
		d.all[kind] = new(counts)
	}
	c := d.all[kind]
	c.total++
	c.of[min(max(int(took/(time.Millisecond/10)), 0), len(c.of)-1)]++
}

// p95 returns what 95 of 100 take at most.
func (d *durations) p95(kind string) time.Duration {
	c := d.all[kind]
	if c == nil {
		return 0
	}
	seen, i := 0, -1
	for seen*100 < c.total*95 {
		i++
		seen += int(c.of[i])
	}
	return time.Duration(i+1) * time.Millisecond / 10
}

func TestTheDashboardOfFiftyServers(t *testing.T) {
	if *benchMinutes == 0 {
		t.Skip("make bench-dashboard")
	}
	var servers []api.DiscordServer
	for i := range benchServers {
		servers = append(servers, api.DiscordServer{ID: fmt.Sprintf("g%d", i), Name: fmt.Sprintf("Server %d", i)})
	}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Discord = onServers{servers: servers}
		s.Setup, s.Tools = new(setup), &tools{}
	})
	fillHistory(t, r)
	ctx, done := context.WithTimeout(t.Context(), time.Duration(*benchMinutes*float64(time.Minute)))
	defer done()
	var took durations
	var work sync.WaitGroup
	for i := range benchViewers {
		work.Go(func() { followEvents(ctx, t, r, i%2 == 0, &took) })
	}
	work.Go(func() { // what happens meanwhile
		for tick := time.NewTicker(200 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			if _, err := r.manager.Run(ctx,
				sessions.Task{Prompt: "lamps", Origin: sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel}},
				nil); err != nil && ctx.Err() == nil {
				t.Errorf("a task: %v", err)
			}
		}
	})
	heapBefore := heap()
	for n := 0; ctx.Err() == nil; n++ {
		for _, page := range []string{
			"/", "/activity", "/activity?server=g7", "/activity?state=failed&person=u3", "/activity?origin=discord&usd=0.01",
			"/tasks/t77", "/budget", "/settings", "/setup", "/watches",
		} {
			measure(ctx, t, r, "page "+page, page, &took)
		}
		for _, words := range []string{"lamp", "ferry 77", "example", "zebra", "lam"} {
			measure(ctx, t, r, "search", "/activity?q="+strings.ReplaceAll(words, " ", "+"), &took)
		}
	}
	heapAfter := heap()
	work.Wait()
	pages, worst := time.Duration(0), ""
	for kind, seen := range took.all {
		t.Logf("%-45s n=%-6d p95=%s", kind, seen.total, took.p95(kind))
		if strings.HasPrefix(kind, "page ") && took.p95(kind) > pages {
			pages, worst = took.p95(kind), kind
		}
	}
	search, event, events := took.p95("search"), took.p95("event"), took.all["event"]
	if events == nil {
		t.Fatal("no viewer saw an event")
	}
	t.Logf("dashboard: servers=%d sessions=%d steps=%d viewers=%d page_p95=%s (%s) search_p95=%s event_p95=%s events=%d "+
		"heap_before=%dMB heap_after=%dMB",
		benchServers, benchSessions, benchTasks*benchStepsEach, benchViewers, pages, worst, search, event, events.total,
		heapBefore>>20, heapAfter>>20)
	if pages > maxPageTime || search > maxSearchTime || event > maxEventTime {
		t.Errorf("too slow: pages at most %s, search %s, events %s", maxPageTime, maxSearchTime, maxEventTime)
	}
	if heapAfter > heapBefore+maxHeapGrowth {
		t.Errorf("the heap grew from %d to %d MB", heapBefore>>20, heapAfter>>20)
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fillHistory keeps what people of fifty servers have asked for.
func fillHistory(t *testing.T, r *rig) {
	t.Helper()
	words := []string{"find a lamp", "compare ferries", "read the news of example.com", "book a table"}
	begun := time.Now().Add(-24 * time.Hour)
	for i := range benchTasks {
		origin := sessions.Origin{
			Kind: sessions.FromDiscord, Guild: fmt.Sprintf("g%d", i%benchServers), Channel: fmt.Sprintf("c%d", i%150),
			User:     fmt.Sprintf("u%d", i%200),
			UserName: fmt.Sprintf("Person %d", i%200), Private: i%17 == 0,
		}
		at := begun.Add(time.Duration(i) * 8 * time.Second)
		rec := sessions.TaskRecord{
			Task: sessions.Task{
				ID: fmt.Sprintf("t%d", i), SessionID: fmt.Sprintf("s%d", i%benchSessions), Origin: origin, Runtime: "local",
				Model:  "openai:gpt-6-sol",
				Prompt: fmt.Sprintf("%s, number %d", words[i%len(words)], i),
			},
			State: sessions.TaskRunning, Asked: at, Started: at,
		}
		rec.Usage.USD = float64(i%50) / 1000
		session := sessions.Session{
			ID: rec.SessionID, State: sessions.SessionParked, Origin: origin, Runtime: "local",
			Created: at, LastUsed: at,
		}
		for n := range benchStepsEach {
			at = at.Add(500 * time.Millisecond)
			step := sessions.Step{
				N: n + 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Tool: "browser_click",
				Input: json.RawMessage(`{"ref":"e12"}`), At: at,
				Label: fmt.Sprintf("click “Show %d”", n), Text: "done", URL: "https://example.com/lamps", Title: "Lamps",
			}
			check.Must(t, r.store.SaveStep(t.Context(), rec, session, step, 0))
		}
		rec.Steps, rec.Answer, rec.Ended = benchStepsEach, "Six lamps are on sale.", at
		if rec.State = sessions.TaskDone; i%9 == 0 {
			rec.State, rec.Answer, rec.Reason = sessions.TaskFailed, "", "the site did not answer"
		}
		check.Must(t, r.store.SaveTask(t.Context(), rec, session))
	}
}

// measure asks for a page.
func measure(ctx context.Context, t *testing.T, r *rig, kind, path string, took *durations) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL()+path, nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	begun := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("%s: %v", path, err)
		}
		return
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return // the time is up
	}
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", path, res.Status)
	}
	took.add(kind, time.Since(begun))
}

// followEvents is somebody who watches, and measures how late they see each step.
func followEvents(ctx context.Context, t *testing.T, r *rig, all bool, took *durations) {
	t.Helper()
	path := "/api/events"
	if all {
		path += "?all=1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL()+path, nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("follow: %v", err)
		}
		return
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e api.StepEvent
		if ok && json.Unmarshal([]byte(data), &e) == nil && !e.Step.At.IsZero() {
			took.add("event", time.Since(e.Step.At))
		}
	}
}
