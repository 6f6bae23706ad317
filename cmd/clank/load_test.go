package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr/control/client"
	"clank/internal/server"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/load"
	"clank/internal/test/npm"
)

var (
	loadPeople = flag.String("load.people", "", "measure `so` many people at once, such as 1,4,8")
	loadFor    = flag.Duration("load.for", 3*time.Second, "how long each is measured")
	loadFronts = flag.String("load.fronts", "discord,chat,api,mcp", "the front ends that people browse through, in turn")
	loadPeers  = flag.String("load.peers", "", "the `folder` of playwright-core, for its floor; none: it is left out")
)

// loadFixture is clank in a separate process, and people who browse with it.
type loadFixture struct {
	t       *testing.T
	home    string
	server  *runningProgram
	mcp     *runningProgram
	site    *httptest.Server
	figures load.Figures
	discord *discordtest.Server
	guild   discordtest.Guild
	page    server.Address
	control *browsertool.APIClient
	mcpURL  string
	token   string // of an MCP client

	toldPosition atomic.Int64 // how often people on the chat page were told their place in line
	people       []*loadVisitor
}

// loadSettings allow sixteen tasks at once: enough for 32 people, half of whom ask for tasks and half work step by
// step. With more people some wait in the queue.
var loadSettings = map[string]string{
	keyModel: scriptedModel, keyPerHour: "600", "interaction.tasks.maxPerHourPerGuild": "6000",
	"interaction.sessions.maxConcurrentSessions": "100", "interaction.tasks.maxAtOnce": "16",
	"interaction.tasks.maxAtOncePerGuild": "16", "interaction.tasks.maxAtOncePerUser": "16",
	"agentStack.runtimeConfig.budget.user":  "1000000000000 tokens",
	"agentStack.runtimeConfig.budget.day":   "1000000000000 tokens",
	"agentStack.runtimeConfig.budget.guild": "1000000000000 tokens",
}

func newLoadFixture(t *testing.T) *loadFixture {
	t.Helper()
	l := &loadFixture{t: t, site: load.NewSite()}
	t.Cleanup(l.site.Close)
	model := load.NewModel(l.site.URL, &l.figures)
	t.Cleanup(model.Close)
	var err error
	l.discord, err = discordtest.Start(discordtest.Config{})
	check.Must(t, err)
	t.Cleanup(func() { l.discord.Close() })
	bot, owner := l.discord.CreateBot("clank", "secret"), l.discord.CreateUser("owner")
	l.guild = l.discord.CreateGuild("home", owner)
	l.discord.AddMember(l.guild, bot.User)
	home, environ := newTestHome(t)
	environ = append(environ, "DISCORD_TOKEN="+bot.Token, "CLANK_DISCORD_API="+l.discord.URL, "CLANK_VAULT_KEYRING=off")
	changed := maps.Clone(loadSettings)
	changed[keyServer] = model.URL + "/v1"
	for key, value := range changed {
		if code, _, told := runInProcess(t, environ, "config", "set", key, value); code != exitDone {
			t.Fatalf("config set %s: %s", key, told)
		}
	}
	l.home, l.server = home, startServer(t, home, environ)
	check.Must(t, l.discord.WaitConnected(testDeadline(t), bot))
	h, err := server.OpenHome(func(name string) string { return map[string]string{"CLANK_HOME": home}[name] })
	check.Must(t, err)
	l.page, _, err = h.RunningServer()
	check.Must(t, err)
	at, err := client.Discover(home)
	check.Must(t, err)
	l.control = &browsertool.APIClient{URL: at.URL, Token: at.Token}
	code, token, told := runInProcess(t, environ, "tokens", "add", "load")
	if code != exitDone {
		t.Fatalf("tokens add: %s", told)
	}
	l.token = strings.TrimSpace(token)
	l.mcp = startProgram(t, home, environ, "mcp", "--http", "127.0.0.1:0")
	_, rest, _ := strings.Cut(awaitOutput(t, l.mcp.stderr, "MCP at "), "MCP at ")
	l.mcpURL, _, _ = strings.Cut(rest, ",")
	return l
}

// usage returns the resource usage of clank's own processes, and of its browsers.
func (l *loadFixture) usage() (programs, browsers load.Usage) {
	own := []int{l.server.cmd.Process.Pid, l.mcp.cmd.Process.Pid}
	all := slices.Concat(load.Tree(own[0]), load.Tree(own[1]))
	return load.Measure(own), load.Measure(slices.DeleteFunc(all, func(pid int) bool { return slices.Contains(own, pid) }))
}

// loadVisitor is one of the people, who continues between measurements.
type loadVisitor struct {
	loadPerson
	name   string
	visits int
}

// browse lets n people browse, visit after visit, until leave is called, which waits for their visits to end. It
// returns after each of them has made one visit.
func (l *loadFixture) browse(ctx context.Context, n int) (leave func()) {
	l.t.Helper()
	for k := len(l.people); k < n; k++ {
		name, p, err := l.person(ctx, k)
		check.Must(l.t, err)
		l.people = append(l.people, &loadVisitor{loadPerson: p, name: name})
	}
	var settled, visiting sync.WaitGroup
	var leaving atomic.Bool
	for _, p := range l.people {
		settled.Add(1)
		visiting.Go(func() {
			first := sync.OnceFunc(settled.Done)
			defer first()
			for !leaving.Load() {
				if err := p.visit(ctx, p.visits); err != nil {
					l.figures.Fail(fmt.Errorf("%s, visit %d: %w", p.name, p.visits, err))
					return
				}
				p.visits++
				first()
			}
		})
	}
	settled.Wait()
	return func() {
		leaving.Store(true)
		visiting.Wait()
	}
}

// loadRow is the result for a number of people.
type loadRow struct {
	n                   int
	rate, floor, script float64 // loops a second: of clank, rod and playwright
	counted             load.Snapshot
	mb                  float64       // for each person
	told                int64         // how often somebody on the chat page was told their place in line
	busy                float64       // share of the machine
	clank, browser      float64       // processors that they took
	loopCPU, floorCPU   time.Duration // that a loop takes of all of clank's processes, and with rod
	fair                map[string]float64
}

func (r loadRow) String() string {
	p50, p95 := load.Percentile(r.counted.Steps, 50), load.Percentile(r.counted.Steps, 95)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("load: n=%d loops_s=%.1f p50_ms=%.0f p95_ms=%.0f mb_per_session=%.0f floor_ratio=%.2f errors=%d "+
		"queue_p95_ms=%d told_position=%d fairness=%.2f rod_loops_s=%.1f playwright_loops_s=%.1f busy=%.0f%% "+
		"clank_cores=%.2f chromium_cores=%.2f loop_cpu_ms=%.0f rod_loop_cpu_ms=%.0f",
		r.n, r.rate, ms(p50), ms(p95), r.mb, r.rate/max(r.floor, 0.01), len(r.counted.Errors),
		load.Percentile(r.counted.Queued, 95).Milliseconds(), r.told, r.fairness(), r.floor, r.script, 100*r.busy, r.clank,
		r.browser, ms(r.loopCPU), ms(r.floorCPU))
}

// fairness returns the lowest fairness index of the front ends.
func (r loadRow) fairness() float64 {
	least := 1.0
	for _, f := range r.fair {
		least = min(least, f)
	}
	return least
}

// measure measures the current people for a while. idle is clank's memory without them, in MB.
func (l *loadFixture) measure(d time.Duration, idle float64) loadRow {
	l.figures.Take()
	l.toldPosition.Store(0)
	programs, browsers := l.usage()
	unused, begin := load.IdleTime(), time.Now()
	half := time.NewTimer(d / 2)
	<-half.C
	p, b := l.usage()
	half.Reset(d - time.Since(begin))
	<-half.C
	took := time.Since(begin)
	after, afterBrowsers := l.usage()
	r := loadRow{n: len(l.people), counted: l.figures.Take(), told: l.toldPosition.Load(), fair: map[string]float64{}}
	r.rate = float64(r.counted.Total()) / took.Seconds()
	r.mb = (p.MB + b.MB - idle) / float64(r.n)
	r.busy = 1 - float64(load.IdleTime()-unused)/float64(took)/float64(runtime.NumCPU())
	r.clank = float64(after.CPU-programs.CPU) / float64(took)
	r.browser = float64(afterBrowsers.CPU-browsers.CPU) / float64(took)
	r.loopCPU = time.Duration((r.clank + r.browser) / max(r.rate, 0.01) * float64(time.Second))
	for kind := range strings.SplitSeq(*loadFronts, ",") {
		var of []string
		for _, p := range l.people {
			if strings.HasPrefix(p.name, kind) {
				of = append(of, p.name)
			}
		}
		if len(of) > 1 {
			r.fair[kind] = r.counted.Fairness(of)
		}
	}
	return r
}

// floors measures rod and, if installed, playwright-core with the same number of tabs.
func (l *loadFixture) floors(r *loadRow, d time.Duration) {
	l.t.Helper()
	browser := browsertest.Launch(l.t)
	spent := func() time.Duration {
		return load.Measure(append(load.Tree(browser.PID), os.Getpid())).CPU
	}
	before := spent()
	loops, err := load.RodLoops(l.t.Context(), browser.WebSocketURL, l.site.URL, r.n, d)
	check.Must(l.t, err)
	r.floor, r.floorCPU = float64(loops)/d.Seconds(), (spent()-before)/time.Duration(max(loops, 1))
	if *loadPeers == "" {
		check.Must(l.t, browser.Stop(l.t.Context()))
		return
	}
	check.Must(l.t, os.MkdirAll(*loadPeers, 0o755))
	dir, _, err := npm.InstallPlaywright(l.t.Context(), *loadPeers)
	check.Must(l.t, err)
	p, err := npm.StartPlaywright(l.t.Context(), dir, fmt.Sprintf("http://127.0.0.1:%d", browser.Port))
	check.Must(l.t, err)
	defer p.Close()
	check.Must(l.t, p.Call("loops", map[string]any{"url": l.site.URL + "/form", "n": r.n, "ms": d.Milliseconds()}, &loops))
	r.script = float64(loops) / d.Seconds()
	check.Must(l.t, browser.Stop(l.t.Context()))
}

// TestLoad lets many people browse at once through all front ends, and measures throughput and latency.
func TestLoad(t *testing.T) {
	if *loadPeople == "" {
		inHalf(t, true)
	}
	if runtime.GOOS != "linux" {
		t.Skip("what processes take is read from /proc")
	}
	l := newLoadFixture(t)
	door := apiDoor{call: l.control}
	check.Must(t, door.do(testDeadline(t), "POST", "/start", url.Values{"headless": {"true"}}, nil, nil))
	p, b := l.usage()
	idle := p.MB + b.MB
	var rows []loadRow
	for text := range strings.SplitSeq(cmp.Or(*loadPeople, "4"), ",") {
		n, err := strconv.Atoi(text)
		check.Must(t, err)
		// Each of them makes two visits besides what is measured.
		ctx, cancel := context.WithTimeout(t.Context(), patience+3**loadFor+time.Duration(n)*3*time.Second)
		leave := l.browse(ctx, n)
		r := l.measure(*loadFor, idle)
		leave()
		cancel()
		late := l.figures.Take()
		r.counted.Errors = append(r.counted.Errors, late.Errors...)
		l.floors(&r, *loadFor)
		rows = append(rows, r)
		t.Log(r)
		for _, kind := range slices.Sorted(maps.Keys(r.counted.StepsOf)) {
			took := r.counted.StepsOf[kind]
			t.Logf("load: step=%s count=%d p50_ms=%d p95_ms=%d", kind, len(took), load.Percentile(took, 50).Milliseconds(),
				load.Percentile(took, 95).Milliseconds())
		}
		for _, err := range r.counted.Errors[:min(len(r.counted.Errors), 5)] {
			t.Error(err)
		}
		if r.counted.Total() == 0 {
			t.Errorf("%d people did not fill in the form once", n)
		}
	}
	if len(rows) > 1 {
		t.Log(saturation(rows))
	}
}

// saturation describes from which row on more people get no more work done, and why.
func saturation(rows []loadRow) string {
	most := slices.MaxFunc(rows, func(a, b loadRow) int { return cmp.Compare(a.rate, b.rate) })
	at := slices.IndexFunc(rows, func(r loadRow) bool { return r.rate >= 0.95*most.rate })
	cause := "waiting, not the processors"
	if rows[at].busy > 0.9 {
		cause = "the processors"
	}
	return fmt.Sprintf("saturation: n=%d loops_s=%.1f cause=%s (%.0f %% busy)", rows[at].n, rows[at].rate, cause,
		100*rows[at].busy)
}
