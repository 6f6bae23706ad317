package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/test/load"
	"clank/sessions"
)

var (
	soakMinutes = flag.Int("soak.minutes", 0, "for how many minutes people browse, after those in which clank warms up")
	soakPeople  = flag.Int("soak.people", 8, "how many people browse")
)

const (
	soakShare  = 0.6 // of what clank can do at once
	soakWarmUp = 5   // minutes, at most
)

// soakSample is clank's resource usage at one time.
type soakSample struct {
	heap, rss, browsers, profiles, history float64 // MB
	goroutines, open, threads, processes   float64
	visits                                 int64
}

// soakColumns are the values that must not grow. Each may grow by a tenth and a constant.
var soakColumns = []struct {
	name  string
	some  float64
	value func(soakSample) float64
}{
	{"heap_mb", 15, func(s soakSample) float64 { return s.heap }},
	{"rss_mb", 30, func(s soakSample) float64 { return s.rss }},
	{"browsers_mb", 100, func(s soakSample) float64 { return s.browsers }},
	{"fds", 20, func(s soakSample) float64 { return s.open }},
	{"goroutines", 40, func(s soakSample) float64 { return s.goroutines }},
	{"threads", 40, func(s soakSample) float64 { return s.threads }},
	{"processes", 4, func(s soakSample) float64 { return s.processes }},
	{"profiles_mb", 60, func(s soakSample) float64 { return s.profiles }},
}

// TestSoak lets people do many kinds of things for a long time, at a share of clank's capacity, and checks that
// resource usage does not keep growing. The history grows with each task until it is as old as
// interaction.history.retentionDays; its growth per visit is reported.
func TestSoak(t *testing.T) {
	if *soakMinutes == 0 {
		t.Skip("make soak runs this, for minutes or hours")
	}
	if runtime.GOOS != "linux" {
		t.Skip("what processes take is read from /proc")
	}
	l := newLoadFixture(t)
	check.Must(t, (&apiDoor{call: l.control}).do(testDeadline(t), "POST", "/start", url.Values{"headless": {"true"}}, nil,
		nil))
	warmUp := min(soakWarmUp, *soakMinutes)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*soakMinutes+warmUp+5)*time.Minute)
	defer cancel()

	const calibration = 30 * time.Second
	leave := l.browse(ctx, *soakPeople)
	full := l.measure(calibration, 0)
	leave()
	visits := full.rate / loopsPerVisit * soakShare
	t.Logf("at full speed %.1f loops each second; from now on %.1f, in %.1f visits of people", full.rate,
		full.rate*soakShare, visits)
	l.figures.Take()

	s := &soak{loadFixture: l, pause: time.Duration(float64(*soakPeople) / visits * float64(time.Second))}
	leave = s.begin(ctx)
	samples := make([]soakSample, 0, *soakMinutes+1)
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	errors := 0
	for m := -warmUp; m <= *soakMinutes; m++ {
		<-minute.C
		now, seen := s.sample(ctx), l.figures.Take()
		errors += len(seen.Errors)
		for _, err := range seen.Errors[:min(len(seen.Errors), 3)] {
			t.Error(err)
		}
		t.Logf("minute %d: visits=%d loops=%d p95_ms=%d %s", m, now.visits, seen.Total(),
			load.Percentile(seen.Steps, 95).Milliseconds(), now)
		if m >= 0 {
			samples = append(samples, now)
		}
	}
	leave()
	errors += len(l.figures.Take().Errors)
	line, grew := verdict(samples, errors)
	for _, what := range grew {
		t.Error(what)
	}
	t.Log(line)
}

// soak is a group of people who start one visit after another on schedule.
type soak struct {
	*loadFixture

	pause time.Duration // from the beginning of a visit to that of the next
	done  atomic.Int64  // visits
}

// begin lets the people browse until leave is called.
func (s *soak) begin(ctx context.Context) (leave func()) {
	ctx, stop := context.WithCancel(ctx)
	var busy sync.WaitGroup
	for k, p := range s.people {
		busy.Go(func() {
			due := time.NewTimer(s.pause * time.Duration(k) / time.Duration(len(s.people)))
			defer due.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-due.C:
				}
				due.Reset(time.Duration((0.5 + rand.Float64()) * float64(s.pause)))
				if err := s.visit(p); err != nil {
					s.figures.Fail(fmt.Errorf("%s, visit %d: %w", p.name, p.visits, err))
				}
				s.done.Add(1)
				p.visits++
			}
		})
	}
	return func() {
		stop()
		busy.Wait()
	}
}

// visit usually fills in the form; every so often it does something else as well.
func (s *soak) visit(p *loadVisitor) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	switch who := p.loadPerson.(type) {
	case *chatPerson:
		switch p.visits % 6 {
		case 2:
			return who.changesTheirMind(ctx, p.visits)
		case 4: // begins anew
			id := who.session
			if who.session = ""; id != "" {
				check.Must(s.t, who.client.CloseSession(ctx, id))
			}
		}
	case *stepPerson:
		if door, ok := who.door.(*apiDoor); ok && p.visits%4 == 3 {
			return door.looksElsewhere(ctx, who.site)
		}
	}
	return p.visit(ctx, p.visits)
}

// changesTheirMind asks for something and stops it.
func (p *chatPerson) changesTheirMind(ctx context.Context, n int) error {
	started, err := p.client.Start(ctx, api.TaskRequest{
		Prompt:    load.Prompt(p.name, n, 10*loopsPerVisit),
		SessionID: p.session, Typed: true,
	})
	if err != nil {
		return err
	}
	p.session = started.SessionID
	if _, err := p.client.Stop(ctx, started.TaskID); err != nil {
		return err
	}
	rec, err := p.client.Follow(ctx, started.TaskID, func(sessions.Event) {})
	if err == nil && !rec.State.Final() {
		err = fmt.Errorf("task %s is %s after a stop", rec.ID, rec.State)
	}
	return err
}

// looksElsewhere opens a second tab, takes pictures of it, and closes it.
func (d *apiDoor) looksElsewhere(ctx context.Context, site string) error {
	other := &apiDoor{call: d.call}
	if err := other.navigate(ctx, site+"/form?other"); err != nil {
		return err
	}
	for _, body := range []map[string]any{{"fullPage": true}, {"type": "jpeg"}} {
		if err := other.do(ctx, "POST", "/screenshot", nil, body, nil); err != nil {
			return err
		}
	}
	return d.do(ctx, "DELETE", "/tabs/"+other.tab, nil, nil, nil)
}

// sample measures the current resource usage.
func (s *soak) sample(ctx context.Context) soakSample {
	s.t.Helper()
	programs, browsers := s.usage()
	n := soakSample{
		rss: programs.MB, browsers: browsers.MB, visits: s.done.Load(), open: float64(programs.Open),
		threads: float64(programs.Threads), processes: float64(programs.Processes + browsers.Processes),
	}
	for name, value := range s.metrics(ctx) {
		switch name {
		case "go_goroutines":
			n.goroutines = value
		case "go_memstats_heap_inuse_bytes":
			n.heap = value / 1e6
		}
	}
	check.Must(s.t, filepath.WalkDir(s.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // Chromium deletes files at any time
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		if strings.HasPrefix(path, filepath.Join(s.home, "browser")) {
			n.profiles += float64(info.Size()) / 1e6
		} else {
			n.history += float64(info.Size()) / 1e6
		}
		return nil
	}))
	return n
}

// metrics reads clank's Prometheus metrics of its process.
func (s *soak) metrics(ctx context.Context) map[string]float64 {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.page.URL+"/metrics", nil)
	check.Must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.page.Secret)
	res, err := http.DefaultClient.Do(req)
	check.Must(s.t, err)
	defer func() { _ = res.Body.Close() }()
	values := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = v
		}
	}
	check.Must(s.t, lines.Err())
	return values
}

func (s soakSample) String() string {
	var b strings.Builder
	for _, c := range soakColumns {
		fmt.Fprintf(&b, "%s=%.0f ", c.name, c.value(s))
	}
	fmt.Fprintf(&b, "history_mb=%.1f", s.history)
	return b.String()
}

// verdict compares the medians of the first and the last quarter, because Chromium's usage fluctuates, and returns
// what grew.
func verdict(samples []soakSample, errors int) (line string, grew []string) {
	quarter := max(len(samples)/4, 1)
	early, late := samples[:quarter], samples[len(samples)-quarter:]
	median := func(of []soakSample, value func(soakSample) float64) float64 {
		values := make([]float64, len(of))
		for i, s := range of {
			values[i] = value(s)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	first, last := samples[0], samples[len(samples)-1]
	visits := last.visits - first.visits
	var b strings.Builder
	fmt.Fprintf(&b, "soak: minutes=%d visits=%d errors=%d", *soakMinutes, visits, errors)
	for _, c := range soakColumns {
		before, after := median(early, c.value), median(late, c.value)
		fmt.Fprintf(&b, " %s=%.0f→%.0f", c.name, before, after)
		if after > 1.1*before+c.some {
			grew = append(grew, fmt.Sprintf("%s grew from %.0f to %.0f", c.name, before, after))
		}
	}
	fmt.Fprintf(&b, " history_mb=%.1f→%.1f history_kb_per_visit=%.1f flat=%t",
		first.history, last.history, 1000*(last.history-first.history)/float64(max(visits, 1)), errors == 0 && len(grew) == 0)
	return b.String(), grew
}

func TestASoakIsFlatUnlessSomethingGrows(t *testing.T) {
	steady := soakSample{
		heap: 50, rss: 200, browsers: 900, open: 100, goroutines: 200, threads: 50, processes: 20,
		profiles: 100,
	}
	for name, x := range map[string]struct {
		leak   func(s *soakSample, minute float64)
		errors int
		grew   string
	}{
		"nothing":       {},
		"an error":      {errors: 1},
		"a single peak": {leak: func(s *soakSample, m float64) { s.browsers += 900 * float64(int(m)/39) }},
		"goroutines": {
			leak: func(s *soakSample, m float64) { s.goroutines += 4 * m },
			grew: "goroutines grew from 220 to 340",
		},
		"descriptors":        {leak: func(s *soakSample, m float64) { s.open += 2 * m }, grew: "fds grew from 110 to 170"},
		"a slice that grows": {leak: func(s *soakSample, m float64) { s.heap += m }, grew: "heap_mb grew from 55 to 85"},
	} {
		samples := make([]soakSample, 40)
		for m := range samples {
			samples[m] = steady
			if x.leak != nil {
				x.leak(&samples[m], float64(m))
			}
		}
		line, grew := verdict(samples, x.errors)
		flat := x.grew == "" && x.errors == 0
		if strings.Join(grew, "; ") != x.grew || !strings.HasSuffix(line, fmt.Sprintf(" flat=%t", flat)) {
			t.Errorf("%s: got %q and %s", name, grew, line)
		}
	}
}
