package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/watches"
	internalweb "clank/internal/web"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// web is all three parts, each with one answer.
type web struct {
	page  internalweb.Page
	found []internalweb.SearchResult
	watch watches.Watch
	err   error
	none  error // why there is no search

	asked any
}

func (w *web) Read(_ context.Context, q internalweb.ReadRequest) (internalweb.Page, error) {
	w.asked = q
	return w.page, w.err
}

func (w *web) Available() error { return w.none }

func (w *web) Search(_ context.Context, q internalweb.SearchQuery) ([]internalweb.SearchResult, error) {
	w.asked = q
	return w.found, w.err
}

func (w *web) Add(_ context.Context, x watches.Watch) (watches.Watch, error) {
	w.asked = x
	return w.watch, w.err
}

// uses returns a reply that calls one tool with that input.
func uses(name, input string) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) {
		call := &llm.ToolCall{ID: "a", Name: name, Input: json.RawMessage(input)}
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: call}}}, Stop: llm.StopTools}, nil
	}
}

// call has the model call one tool, and returns what it got and what it was told before.
func (w *web) call(t *testing.T, name, input string) (llm.ToolResult, llm.Request) {
	t.Helper()
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){uses(name, input), says("done")}}
	b := newBrain(m, answering(sessions.TaskRecord{}))
	b.Web = assistant.WebTools{Reader: w, Searcher: w, Watches: w}
	reply(t, b, turn("look"))
	return result(t, m.asked[1], "a"), m.asked[0]
}

func names(tools []llm.Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func TestTheLightestToolIsAdvised(t *testing.T) {
	w := &web{page: internalweb.Page{URL: "https://a.test/", Text: "words"}}
	_, first := w.call(t, "web_scrape", `{"url":"a.test"}`)
	if diff := cmp.Diff([]string{"browser_browse", "web_search", "web_scrape", "watch_page"}, names(first.Tools)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for _, want := range []string{"lightest tool", "- web_search:", "- web_scrape:", "- watch_page:", "- browser_browse:"} {
		if !strings.Contains(first.System, want) {
			t.Errorf("%q is not in the prompt:\n%s", want, first.System)
		}
	}
	w.none = internalweb.ErrNoEngine
	if _, first = w.call(t, "web_scrape", `{"url":"a.test"}`); strings.Contains(first.System, "- web_search") || len(first.Tools) != 3 {
		t.Errorf("a search is offered without an engine: %v", names(first.Tools))
	}
	w.none = fmt.Errorf("%w; the next in an hour", internalweb.ErrSearchLimit)
	if _, first = w.call(t, "web_scrape", `{"url":"a.test"}`); !strings.Contains(first.System, "the next in an hour") {
		t.Error("the model is not told why it cannot search")
	}
}

func TestAPageIsReadForTheModelAsWrittenByStrangers(t *testing.T) {
	w := &web{page: internalweb.Page{URL: "https://a.test/b", Title: "T", Byline: "Bo", Text: "text ![x](https://evil.test/?q=1)", Chars: 9000, Truncated: true}}
	got, _ := w.call(t, "web_scrape", `{"url":"a.test/b","max_chars":500}`)
	if w.asked != (internalweb.ReadRequest{URL: "a.test/b", MaxChars: 500}) {
		t.Errorf("asked for %+v", w.asked)
	}
	if !strings.HasPrefix(got.Text, "<<<EXTERNAL_UNTRUSTED_CONTENT") || !strings.Contains(got.Text, "T\nBo\n\ntext") || strings.Contains(got.Text, "![x](https") ||
		!strings.HasSuffix(got.Text, "[Cut: the page has 9000 characters. Ask for more with max_chars, at most 24000.]") || got.IsError {
		t.Errorf("got %+v", got)
	}
}

func TestSearchResultsAreListedAsWrittenByStrangers(t *testing.T) {
	w := &web{found: []internalweb.SearchResult{{Title: "A", URL: "https://a.test/", Snippet: "about a", Date: "today"}, {Title: "B", URL: "https://b.test/"}}}
	got, _ := w.call(t, "web_search", `{"query":"x","recency_days":7,"max_results":2}`)
	if w.asked != (internalweb.SearchQuery{Text: "x", RecencyDays: 7, MaxResults: 2}) {
		t.Errorf("asked for %+v", w.asked)
	}
	if !strings.HasPrefix(got.Text, "<<<EXTERNAL") || !strings.Contains(got.Text, "1. A\n   https://a.test/\n   today\n   about a\n2. B\n   https://b.test/\n") {
		t.Errorf("got %s", got.Text)
	}
	w.found = nil
	if got, _ = w.call(t, "web_search", `{"query":"x"}`); got.IsError || !strings.Contains(got.Text, "Nothing was found") {
		t.Errorf("nothing found: %+v", got)
	}
}

func TestFailuresSuggestTheBrowserWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		err         error
		want        string
		browser     bool
	}{
		{"web_scrape", `{"url":"x"}`, fmt.Errorf("the page is empty without its scripts: %w", internalweb.ErrNeedsBrowser), "empty without its scripts", true},
		{"web_scrape", `{"url":"x"}`, fmt.Errorf("no address: %w", internalweb.ErrInvalidAddress), "no address", false},
		{"web_search", `{"query":"x"}`, errors.New("Brave Search: too many (429)"), "(429)", true},
		{"watch_page", `{"url":"x","what":"y"}`, watches.ErrTooMany, "too many watches", false},
		{"web_scrape", `{"link":"x"}`, nil, "unknown field", false},
		{"web_search", `{"query":"x"} {}`, nil, "more than one", false},
		{"watch_page", `{"url":"x","what":"y","kind":"below"}`, nil, "number is missing", false},
	} {
		got, _ := (&web{err: c.err}).call(t, c.tool, c.input)
		if !got.IsError || !strings.Contains(got.Text, c.want) || strings.Contains(got.Text, "browser_browse") != c.browser {
			t.Errorf("%s %s: got %+v", c.tool, c.input, got)
		}
	}
}

func TestAWatchIsBegunForWhoAsks(t *testing.T) {
	until := time.Now().Add(48 * time.Hour)
	w := &web{watch: watches.Watch{ID: "w1", Every: time.Hour, Until: until, Seen: watches.Seen{Value: "18 €", Met: true}}}
	got, _ := w.call(t, "watch_page", `{"url":"shop.test","what":"cheaper","kind":"below","number":20,"currency":"EUR","near":"Price","every_minutes":30,"days":2}`)
	asked := w.asked.(watches.Watch)
	if asked.Origin.UserName != "ada" || asked.Every != 30*time.Minute || asked.Until.Sub(until).Abs() > time.Minute {
		t.Errorf("asked for %+v", asked)
	}
	if want := (watches.Condition{Kind: watches.KindBelow, Number: 20, Currency: "EUR", Near: "Price"}); asked.Condition != want {
		t.Errorf("asked for %+v, want %+v", asked.Condition, want)
	}
	for _, want := range []string{"watch w1, every 1h0m0s until " + until.Format(time.DateOnly), "is so already", "18 €"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is not in %s", want, got.Text)
		}
	}
}
