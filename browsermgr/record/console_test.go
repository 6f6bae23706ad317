package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

func texts(entries []record.ConsoleEntry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Type+" "+e.Text)
	}
	return list
}

func TestConsoleIsRecordedFromTheStartOfThePage(t *testing.T) {
	url := browsertest.Routes(t,
		map[string]any{"/": `<script>console.log('first', 1, {a: 'x', b: [1]}, [1, 'two'], null, undefined, -0)
console.warn('careful'); console.debug('detail'); console.error(new TypeError('bad')); console.info(function f() {})</script>`})
	before := time.Now().Add(-time.Minute)
	r, tab := open(t, url)
	var got []record.ConsoleEntry
	browsertest.Eventually(t, "five messages", func() bool {
		got = r.Console(tab, "", false).Entries
		return len(got) == 5
	})
	want := []string{
		`log first 1 {a: x, b: Array(1)} [1, two] null undefined -0`, "warning careful", "debug detail",
		"error TypeError: bad", "info function f() {}",
	}
	list := texts(got)
	list[3], _, _ = strings.Cut(list[3], "\n")
	check.Diff(t, "list", list, want)
	if loc := got[0].Location; loc.URL != url+"/" || loc.LineNumber != 0 || loc.ColumnNumber == 0 {
		t.Errorf("got location %+v, want the script's first line", loc)
	}
	at, err := time.Parse(time.RFC3339, got[0].Timestamp)
	if err != nil || at.Before(before) || at.After(time.Now().Add(time.Minute)) ||
		!strings.HasSuffix(got[0].Timestamp, "Z") {
		t.Errorf("got timestamp %q, want now as ISO 8601", got[0].Timestamp)
	}
}

func TestConsoleLevelIsAMinimum(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/": `<script>for (const k of ['debug', 'log', 'info', 'warn', 'error', 'table']) console[k](k)</script>`}))
	browsertest.Eventually(t, "six messages", func() bool { return len(r.Console(tab, "", false).Entries) == 6 })
	for level, want := range map[string][]string{
		"":        {"debug debug", "log log", "info info", "warning warn", "error error", "table table"},
		"debug":   {"debug debug", "log log", "info info", "warning warn", "error error", "table table"},
		"info":    {"log log", "info info", "warning warn", "error error", "table table"},
		"log":     {"log log", "info info", "warning warn", "error error", "table table"},
		"no such": {"log log", "info info", "warning warn", "error error", "table table"},
		"warn":    {"warning warn", "error error"},
		"WARNING": {"warning warn", "error error"},
		"error":   {"error error"},
	} {
		check.Diff(t, "level "+level, texts(r.Console(tab, level, false).Entries), want)
	}
}

func TestConsoleTellsOfFailedLoadsAndOfOtherProcesses(t *testing.T) {
	inner := strings.Replace(browsertest.Routes(t, map[string]any{"/": `<script>console.log('from the frame')</script>`}),
		"127.0.0.1", "localhost", 1)
	r, tab := open(t, browsertest.Routes(t, map[string]any{"/{$}": `<img src=/missing.png><iframe src="` + inner +
		`"></iframe>`}))
	var got []string
	browsertest.Eventually(t, "both messages", func() bool {
		got = texts(r.Console(tab, "", false).Entries)
		return len(got) == 2
	})
	slices.Sort(got)
	check.Contains(t, got[0], "error Failed to load resource", "404")
	check.Contains(t, got[1], "log from the frame")
}

func TestConsoleKeepsTheLastFiveHundredOfManyMessages(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{"/": `<p>quiet`}))
	run(t, tab, `() => { for (let i = 1; i <= 2000; i++) console.log('line ' + i, {i}) }`)
	var got []record.ConsoleEntry
	browsertest.Eventually(t, "the last message", func() bool {
		got = r.Console(tab, "", false).Entries
		return len(got) > 0 && strings.HasPrefix(got[len(got)-1].Text, "line 2000 ")
	})
	if len(got) != record.MaxConsole || got[0].Text != "line 1501 {i: 1501}" {
		t.Errorf("got %d messages from %q on, want %d from line 1501 on", len(got), got[0].Text, record.MaxConsole)
	}
	if k := r.Console(tab, "error", true); len(k.Entries) != 0 || k.Dropped != 1500 {
		t.Errorf("got %d errors and %d dropped messages, want none and 1500", len(k.Entries), k.Dropped)
	}
	if k := r.Console(tab, "", false); len(k.Entries) != 0 || k.Dropped != 0 {
		t.Errorf("got %d messages and %d dropped ones after clearing, want none", len(k.Entries), k.Dropped)
	}
}

func TestConsoleCutsHugeMessages(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/": `<script>for (let i = 0; i < 5; i++) console.log('é'.repeat(200_000))</script>`}))
	browsertest.Eventually(t, "all messages", func() bool { return len(r.Console(tab, "", false).Entries) == 5 })
	for _, e := range r.Console(tab, "", false).Entries {
		if n := len([]rune(e.Text)); n != 16_000 {
			t.Fatalf("got %d characters, want 16000", n)
		}
	}
}

func TestErrorsTellWhatWasThrown(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t,
		map[string]any{"/": `<script>class PaymentError extends Error { name = 'PaymentError' }
setTimeout(() => { throw new RangeError('too: far') }); setTimeout(() => { throw 'plain' }); setTimeout(() => { throw {code: 7} })
setTimeout(() => { throw new Error() }); setTimeout(() => Promise.reject(new TypeError('unheard')))</script>`}))
	var got []record.PageError
	browsertest.Eventually(t, "five errors", func() bool { got = r.Errors(tab, false).Entries; return len(got) == 5 })
	names := map[string]string{}
	for _, e := range got {
		names[e.Message] = e.Name
		if isError := e.Name != ""; isError != (e.Stack != "") || e.Timestamp == "" {
			t.Errorf("got %+v, want a stack exactly where an error object was thrown", e)
		}
	}
	want := map[string]string{"too: far": "RangeError", "plain": "", "{code: 7}": "", "": "Error", "unheard": "TypeError"}
	check.Diff(t, "names", names, want)
	if r.Errors(tab, true); len(r.Errors(tab, false).Entries) != 0 {
		t.Error("errors are there after clearing")
	}
}

func TestErrorsKeepTheLastTwoHundred(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{"/": `<p>quiet`}))
	run(t, tab, `() => { for (let i = 1; i <= 250; i++) setTimeout(() => { throw new Error('e' + i) }) }`)
	var got []record.PageError
	browsertest.Eventually(t, "the last error", func() bool {
		got = r.Errors(tab, false).Entries
		return len(got) > 0 && got[len(got)-1].Message == "e250"
	})
	if len(got) != record.MaxErrors || got[0].Message != "e51" {
		t.Errorf("got %d errors from %q on, want %d from e51 on", len(got), got[0].Message, record.MaxErrors)
	}
}

func TestTabsOfTheirOwnAreKeptApartAndForgottenWhenTheyClose(t *testing.T) {
	url := browsertest.Routes(t, map[string]any{"/": `<script>console.log(location.search)</script>`})
	r := new(record.Store).NewRecorder()
	b := browser.Connect(t, page.Options{Observers: []page.Observer{r}})
	one := browsertest.Tab(t, b, page.TabOptions{URL: url + "/?one"})
	var two *page.Tab
	browsertest.Eventually(t, "the first message", func() bool { return len(r.Console(one, "", false).Entries) == 1 })
	run(t, one, `() => { window.open('/?two') }`)
	browsertest.Eventually(t, "the second tab", func() bool {
		for _, tab := range b.Tabs() {
			if tab.Opener() == one {
				two = tab
			}
		}
		return two != nil && len(r.Console(two, "", false).Entries) == 1
	})
	check.Diff(t, "texts", texts(r.Console(two, "", false).Entries), []string{"log ?two"})
	check.Must(t, two.Close(browsertest.Within(t, browsertest.Patience)))
	browsertest.Eventually(t, "the closed tab is forgotten", func() bool {
		return len(r.Console(two, "", false).Entries) == 0
	})
	check.Diff(t, "texts", texts(r.Console(one, "", false).Entries), []string{"log ?one"})
}

func TestAWatcherIsToldUntilItStops(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{"/": `<p>quiet`}))
	told := make(chan string, 10)
	stop := r.Subscribe(func(n record.Recorded) {
		if n.Console != nil {
			told <- fmt.Sprintf("%t %s", n.Tab == tab, n.Console.Text)
		}
	})
	run(t, tab, `() => console.log('one')`)
	if got := <-told; got != "true one" {
		t.Errorf("got %q, want the message of the tab", got)
	}
	stop()
	run(t, tab, `() => console.log('two')`)
	browsertest.Eventually(t, "both messages", func() bool { return len(r.Console(tab, "", false).Entries) == 2 })
	if len(told) != 0 {
		t.Errorf("got %q after stopping", <-told)
	}
}
