package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"clank/internal/test/npm"
)

// benchmark runs the same operations with all programs in turns.
type benchmark struct {
	site       string
	clank      *clank
	playwright *npm.Playwright
	agent      *agentBrowser
	rounds     int
	only       []string // names of cases; nil means all
	tab        string   // our tab
}

// blocksPerCase is the number of blocks into which the rounds of a case are divided, so that disturbances of the
// machine affect all programs.
const blocksPerCase = 3

// benchmarkCase is one operation. A nil function means that a program does not support it.
type benchmarkCase struct {
	name         string
	prepare      func(ctx context.Context) error           // before each block
	before       func(ctx context.Context, i int) error    // before each round of ours and of playwright's, not timed
	ours         func(ctx context.Context, i int) error    // through the control API
	command      func(i int) []string                      // as "clank browser …"
	script       string                                    // operation of playwright.mjs
	url          string                                    // its argument
	agent        func(ctx context.Context, i int) []string // as "agent-browser …"
	prepareAgent func(ctx context.Context) error           // before each block of agent-browser
	rounds       int                                       // maximum, if not 0
	// unsettled means that playwright does not wait for the consequences, as we do, so the case is judged by another
	// measure.
	unsettled bool
	unlike    string // what playwright does less under this name; it is judged all the same
}

// caseMedians are the median durations of one case.
type caseMedians struct{ ours, command, playwright, agent time.Duration }

func (r *benchmark) measureCase(ctx context.Context, c benchmarkCase) (caseMedians, error) {
	var all [4][]time.Duration
	n := max(r.rounds/blocksPerCase, 1)
	if c.rounds > 0 {
		n = min(n, c.rounds)
	}
	for turn := range blocksPerCase {
		if c.prepare != nil {
			if err := c.prepare(ctx); err != nil {
				return caseMedians{}, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		for k, block := range []func(ctx context.Context, c benchmarkCase, from, n int) ([]time.Duration, error){
			r.byAPI,
			r.byCommand, r.byPlaywright, r.byAgent,
		} {
			took, err := block(ctx, c, turn*n, n)
			if err != nil {
				return caseMedians{}, fmt.Errorf("%s: %w", c.name, err)
			}
			all[k] = append(all[k], took...)
		}
	}
	return caseMedians{median(all[0]), median(all[1]), median(all[2]), median(all[3])}, nil
}

// timeRounds times n rounds of an operation.
func timeRounds(from, n int, do func(i int) (time.Duration, error)) ([]time.Duration, error) {
	var all []time.Duration
	for i := range n {
		took, err := do(from + i)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	return all, nil
}

// focusOurTab brings our tab to the front, because Chromium renders only that one.
func (r *benchmark) focusOurTab(ctx context.Context) error {
	return r.clank.Call(ctx, "POST", "/tabs/focus", map[string]any{"targetId": r.tab}, nil)
}

func (r *benchmark) byAPI(ctx context.Context, c benchmarkCase, from, n int) ([]time.Duration, error) {
	if err := r.focusOurTab(ctx); err != nil {
		return nil, err
	}
	return timeRounds(from, n, func(i int) (time.Duration, error) {
		if c.before != nil {
			if err := c.before(ctx, i); err != nil {
				return 0, err
			}
		}
		begin := time.Now()
		err := c.ours(ctx, i)
		return time.Since(begin), err
	})
}

func (r *benchmark) byCommand(ctx context.Context, c benchmarkCase, from, n int) ([]time.Duration, error) {
	if c.command == nil {
		return nil, nil
	}
	return timeRounds(from, n, func(i int) (time.Duration, error) { return r.clank.command(ctx, c.command(i)...) })
}

func (r *benchmark) byPlaywright(_ context.Context, c benchmarkCase, _, n int) ([]time.Duration, error) {
	return r.playwright.Times(c.script, c.url, n)
}

func (r *benchmark) byAgent(ctx context.Context, c benchmarkCase, from, n int) ([]time.Duration, error) {
	if c.agent == nil {
		return nil, nil
	}
	if err := r.agent.front(ctx); err != nil {
		return nil, err
	}
	if c.prepareAgent != nil { // it forgets its refs when it changes tabs
		if err := c.prepareAgent(ctx); err != nil {
			return nil, err
		}
	}
	return timeRounds(from, n, func(i int) (time.Duration, error) {
		took, _, err := r.agent.do(ctx, c.agent(ctx, i)...)
		return took, err
	})
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// formRefs are the refs of the form page's elements for each program.
type formRefs struct{ name, save, country string }

func (r *benchmark) navigateAll(ctx context.Context, url string) error {
	if err := r.clank.Call(ctx, "POST", "/navigate", map[string]any{"url": url, "targetId": r.tab}, nil); err != nil {
		return err
	}
	if _, _, err := r.agent.do(ctx, "open", url); err != nil {
		return err
	}
	_, err := r.playwright.Times("goto", url, 0)
	return err
}

// actionCases returns the actions on the form page whose duration depends on the program.
func (r *benchmark) actionCases() []benchmarkCase { //nolint:funlen // a table
	var ours, theirs formRefs
	elements := map[[2]string][2]*string{
		{"textbox", "Name"}: {&ours.name, &theirs.name}, {"button", "Save"}: {&ours.save, &theirs.save},
		{"combobox", "Country"}: {&ours.country, &theirs.country},
	}
	fresh := func(ctx context.Context) error {
		if err := r.navigateAll(ctx, r.site+"/form"); err != nil {
			return err
		}
		var err error
		for element, into := range elements {
			if *into[0], err = r.clank.ref(ctx, element[0], element[1]); err != nil {
				return err
			}
		}
		return nil
	}
	look := func(ctx context.Context) error {
		var err error
		for element, into := range elements {
			if *into[1], err = r.agent.ref(ctx, element[0], element[1]); err != nil {
				return err
			}
		}
		return nil
	}
	inField := func(ctx context.Context) error {
		if err := fresh(ctx); err != nil {
			return err
		}
		return r.clank.act(ctx, map[string]any{"kind": "click", "ref": ours.name})
	}
	agentInField := func(ctx context.Context) error {
		if err := look(ctx); err != nil {
			return err
		}
		_, _, err := r.agent.do(ctx, "click", theirs.name)
		return err
	}
	act := r.clank.repeated
	country := func(i int) string { return []string{"Peru", "Norway"}[i%2] }
	return []benchmarkCase{
		{
			name: "click", prepare: fresh, prepareAgent: look, script: "click",
			ours:    act(func(int) map[string]any { return map[string]any{"kind": "click", "ref": ours.save} }),
			command: func(int) []string { return []string{"click", ours.save} },
			agent:   func(context.Context, int) []string { return []string{"click", theirs.save} },
		},
		{
			name: "type", prepare: fresh, prepareAgent: look, script: "type",
			ours: act(func(i int) map[string]any {
				return map[string]any{"kind": "type", "ref": ours.name, "text": "Ada " + strconv.Itoa(i)}
			}),
			command: func(i int) []string { return []string{"type", ours.name, "Bea " + strconv.Itoa(i)} },
			agent: func(_ context.Context, i int) []string {
				return []string{"fill", theirs.name, "Cem " + strconv.Itoa(i)}
			},
		},
		{
			name: "press", prepare: inField, prepareAgent: agentInField, script: "press", // into the field, by all programs
			unlike:  "ends when Chromium has the keys, ours when what they set off has run",
			ours:    act(func(int) map[string]any { return map[string]any{"kind": "press", "key": "a"} }),
			command: func(int) []string { return []string{"press", "a"} },
			agent:   func(context.Context, int) []string { return []string{"press", "a"} },
		},
		{
			name: "press awaited", prepare: inField, script: "pressAwaited", // by all programs, until its effects have finished
			ours: act(func(int) map[string]any { return map[string]any{"kind": "press", "key": "a"} }),
		},
		{
			name: "hover", prepare: fresh, prepareAgent: look, script: "hover",
			ours:    act(func(int) map[string]any { return map[string]any{"kind": "hover", "ref": ours.save} }),
			command: func(int) []string { return []string{"hover", ours.save} },
			agent:   func(context.Context, int) []string { return []string{"hover", theirs.save} },
		},
		{
			name: "select", prepare: fresh, prepareAgent: look, script: "select",
			unlike: "sends events of a script, ours presses a key in the list and waits for what this set off",
			ours: act(func(i int) map[string]any {
				return map[string]any{"kind": "select", "ref": ours.country, "values": []string{country(i)}}
			}),
			command: func(i int) []string { return []string{"select", ours.country, country(i + 1)} },
			agent:   func(_ context.Context, i int) []string { return []string{"select", theirs.country, country(i)} },
		},
		{
			name: "evaluate", prepare: fresh, prepareAgent: look, script: "evaluate", unsettled: true,
			ours:    act(func(int) map[string]any { return map[string]any{"kind": "evaluate", "fn": "1 + 1"} }),
			command: func(int) []string { return []string{"evaluate", "--fn", "1 + 1"} },
			agent:   func(context.Context, int) []string { return []string{"eval", "1 + 1"} },
		},
		{
			name: "tabs", prepare: fresh, prepareAgent: look, script: "tabs",
			ours:    func(ctx context.Context, _ int) error { return r.clank.Call(ctx, "GET", "/tabs", nil, nil) },
			command: func(int) []string { return []string{"tabs"} },
			agent:   func(context.Context, int) []string { return []string{"tab", "list"} },
		},
	}
}

// chromiumCases returns the actions whose duration depends only on Chromium.
func (r *benchmark) chromiumCases() []benchmarkCase {
	form := r.site + "/form"
	there := func(ctx context.Context) error { return r.navigateAll(ctx, form) }
	return []benchmarkCase{
		{
			name: "navigate", prepare: there, script: "navigate", url: form,
			ours: func(ctx context.Context, i int) error {
				return r.clank.Call(ctx, "POST", "/navigate", map[string]any{"url": form + "?" + strconv.Itoa(i)}, nil)
			},
			command: func(i int) []string { return []string{"navigate", form + "?c" + strconv.Itoa(i)} },
			agent:   func(_ context.Context, i int) []string { return []string{"open", form + "?a" + strconv.Itoa(i)} },
		},
		{
			name: "screenshot", prepare: there, script: "screenshot",
			ours:    func(ctx context.Context, _ int) error { return r.clank.Call(ctx, "POST", "/screenshot", nil, nil) },
			command: func(int) []string { return []string{"screenshot"} },
			agent: func(context.Context, int) []string {
				return []string{"screenshot", filepath.Join(r.agent.dir, "agent.png")}
			},
		},
	}
}

// snapshotPages are the pages for snapshots: the form, and tables with a number of nodes. Playwright takes seconds
// for the last one.
var snapshotPages = []struct {
	name, path string
	rounds     int
}{{"form", "/form", 0}, {"1000", "/table/1000", 5}, {"10000", "/table/10000", 3}, {"50000", "/table/50000", 1}}

func (r *benchmark) snapshot(ctx context.Context, into any) error {
	return r.clank.Call(ctx, "GET", "/snapshot?maxChars=0", nil, into)
}

// snapshotCases returns the cases of snapshots of whole pages: pages seen before, and new ones.
func (r *benchmark) snapshotCases() (small, large, first []benchmarkCase) {
	for _, p := range snapshotPages {
		url := r.site + p.path
		c := benchmarkCase{
			name: "snapshot of " + p.name, script: "snapshot", rounds: p.rounds,
			prepare: func(ctx context.Context) error { return r.navigateAll(ctx, url) },
			ours:    func(ctx context.Context, _ int) error { return r.snapshot(ctx, nil) },
			command: func(int) []string { return []string{"snapshot", "--max-chars", "0"} },
			agent:   func(context.Context, int) []string { return []string{"snapshot"} },
		}
		if p.rounds > 0 {
			large = append(large, c)
		} else {
			small = append(small, c)
		}
		if p.rounds == 1 {
			continue
		}
		c.name, c.script, c.url, c.command, c.agent = "first of "+p.name, "first", url, nil, nil
		c.before = func(ctx context.Context, i int) error {
			return r.clank.Call(ctx, "POST", "/navigate", map[string]any{"url": url + "?" + strconv.Itoa(i)}, nil)
		}
		first = append(first, c)
	}
	return small, large, first
}

// sizes compares the lengths of snapshots and returns the worst ratio.
func (r *benchmark) sizes(ctx context.Context, out io.Writer) (worst float64, err error) {
	for _, p := range snapshotPages {
		name := "size of " + p.name
		if len(r.only) > 0 && !slices.Contains(r.only, name) {
			continue
		}
		if err := r.navigateAll(ctx, r.site+p.path); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		var ours struct{ Snapshot string }
		var theirs string
		if err := errors.Join(r.snapshot(ctx, &ours), r.playwright.Call("text", nil, &theirs)); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		ratio := float64(len(ours.Snapshot)) / float64(len(theirs))
		worst = max(worst, ratio)
		writeRow(out, name, strconv.Itoa(len(ours.Snapshot)), strconv.Itoa(len(theirs)), showRatio(ratio))
	}
	return worst, nil
}

// loopCase returns the usual loop of an agent: navigate, snapshot, type, click, snapshot.
func (r *benchmark) loopCase() benchmarkCase {
	form := r.site + "/form"
	return benchmarkCase{
		name: "loop", script: "loop", url: form, rounds: 8,
		prepare: func(ctx context.Context) error { return r.navigateAll(ctx, form) },
		ours: func(ctx context.Context, i int) error {
			if err := r.clank.Call(ctx, "POST", "/navigate", map[string]any{"url": form + "?" + strconv.Itoa(i)},
				nil); err != nil {
				return err
			}
			var snap struct{ Snapshot string }
			if err := r.clank.Call(ctx, "GET", "/snapshot", nil, &snap); err != nil {
				return err
			}
			name, err := findRef(snap.Snapshot, "textbox", "Name")
			if err != nil {
				return err
			}
			save, err := findRef(snap.Snapshot, "button", "Save")
			if err != nil {
				return err
			}
			if err := r.clank.act(ctx, map[string]any{"kind": "type", "ref": name, "text": "Ada"}); err != nil {
				return err
			}
			if err := r.clank.act(ctx, map[string]any{"kind": "click", "ref": save}); err != nil {
				return err
			}
			return r.clank.Call(ctx, "GET", "/snapshot", nil, nil)
		},
	}
}

// worstRatios are the highest ratios of a group by program.
type worstRatios struct{ playwright, agent, overhead float64 }

func (r *benchmark) group(ctx context.Context, out io.Writer, cases []benchmarkCase) (worstRatios, error) {
	var worst worstRatios
	for _, c := range cases {
		if len(r.only) > 0 && !slices.Contains(r.only, c.name) {
			continue
		}
		t, err := r.measureCase(ctx, c)
		if err != nil {
			return worstRatios{}, err
		}
		toPlay := ratio(t.ours, t.playwright)
		toAgent := ratio(t.command, t.agent)
		if !c.unsettled {
			worst.playwright = max(worst.playwright, toPlay)
		}
		worst.agent = max(worst.agent, toAgent)
		if t.command > 0 {
			worst.overhead = max(worst.overhead, ms(t.command-t.ours))
		}
		writeRow(out, c.name, show(t.ours), show(t.playwright), showRatio(toPlay), show(t.command), show(t.agent),
			showRatio(toAgent))
	}
	return worst, nil
}

func (r *benchmark) run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "medians in ms, %d rounds in %d turns, a Chromium for each; playwright-core %s, agent-browser %s\n",
		r.rounds, blocksPerCase, npm.PlaywrightVersion, npm.AgentBrowserVersion)
	var tab struct{ TargetID string }
	if err := r.clank.Call(ctx, "POST", "/tabs/open", map[string]any{"url": r.site + "/form"}, &tab); err != nil {
		return err
	}
	r.tab = tab.TargetID
	if err := r.agent.open(ctx, r.site+"/form"); err != nil {
		return err
	}
	writeRow(out, "action", "clank API", "playwright", "ratio", "clank command", "agent-browser", "ratio")
	var worst [6]worstRatios
	small, large, first := r.snapshotCases()
	for i, cases := range [][]benchmarkCase{r.actionCases(), r.chromiumCases(), {r.loopCase()}, small, large, first} {
		var err error
		if worst[i], err = r.group(ctx, out, cases); err != nil {
			return err
		}
	}
	actions, chromiums := worst[0], worst[1]
	writeRow(out, "bytes", "clank", "playwright", "ratio")
	size, err := r.sizes(ctx, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "worst ratio to agent-browser, command to command: %.2f for actions, %.2f for what Chromium "+
		"decides; snapshots %.2f\n",
		actions.agent, chromiums.agent, max(worst[3].agent, worst[4].agent))
	for _, c := range r.actionCases() {
		if c.unlike != "" {
			fmt.Fprintf(out, "%s: playwright's %s\n", c.name, c.unlike)
		}
	}
	fmt.Fprintln(out, "evaluate is not in worst_action_ratio: playwright's ends with the script, ours when what the "+
		"script set off has run")
	fmt.Fprintf(out, "worst ratio to playwright for what Chromium decides (navigate, screenshot): %.2f\n",
		chromiums.playwright)
	fmt.Fprintf(out, "peers: worst_action_ratio=%.2f loop_ratio=%.2f cli_ms=%.1f snapshot_ratio=%.2f",
		actions.playwright, worst[2].playwright, max(actions.overhead, chromiums.overhead), worst[4].playwright)
	fmt.Fprintf(out, " form_ratio=%.2f first_ratio=%.2f size_ratio=%.2f\n", worst[3].playwright, worst[5].playwright, size)
	return nil
}

// writeRow writes a row of the report. Rows are written as they are measured, so the columns have fixed widths.
func writeRow(out io.Writer, name string, cells ...string) {
	fmt.Fprintf(out, "%-17s", name)
	for _, cell := range cells {
		fmt.Fprintf(out, "%15s", cell)
	}
	fmt.Fprintln(out)
}

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func show(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", ms(d))
}

func showRatio(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}
