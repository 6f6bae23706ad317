package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/watches"
	internalweb "clank/internal/web"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// calls returns a reply that calls the named tools in order.
func calls(names ...string) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) {
		msg := llm.Message{Role: llm.RoleAssistant}
		for i, name := range names {
			call := &llm.ToolCall{ID: string(rune('a' + i)), Name: name, Input: json.RawMessage(`{"n":1}`)}
			msg.Parts = append(msg.Parts, llm.Part{Call: call})
		}
		return llm.Reply{Message: msg, Stop: llm.StopTools, Usage: llm.Usage{Calls: 1}}, nil
	}
}

// withTool adds a tool to an assistant.
func withTool(b *assistant.Assistant, name string,
	call func(ctx context.Context, o sessions.Origin,
		in json.RawMessage) (string, []llm.Image, error),
) *assistant.Assistant {
	hostOf(b).tools = func() []sessions.Tool {
		return []sessions.Tool{{Tool: llm.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, Call: call}}
	}
	return b
}

func TestFurtherToolsAnswerTheModelOnBehalfOfThePerson(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser"), says("done")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser",
		func(_ context.Context, o sessions.Origin, in json.RawMessage) (string, []llm.Image, error) {
			return o.UserName + " " + string(in), []llm.Image{{MediaType: "image/png", Data: []byte("x")}}, nil
		})
	check.Equal(t, "answer", reply(t, b, turn("look")).Text, "done")
	if got := result(t, m.asked[1], "a"); !strings.HasPrefix(got.Text, `ada {"n":1}`) ||
		!strings.Contains(got.Text, "picture 1; not posted") || len(got.Images) != 1 || got.IsError {
		t.Errorf("result = %+v", got)
	}
	check.Equal(t, "tools offered", len(m.asked[0].Tools), 3)
}

func TestFurtherToolsGoOnBeyondTheRoundsOfBrowses(t *testing.T) {
	m := &scripted{caps: seeing}
	for range 10 {
		m.replies = append(m.replies, calls("browser", "browser"))
	}
	m.replies = append(m.replies, says("at last"))
	n := 0
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser",
		func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
			n++
			return "ok", nil, nil
		})
	if got := reply(t, b, turn("look")).Text; got != "at last" || n != 20 {
		t.Errorf("answer = %q after %d calls, want 20", got, n)
	}
}

func TestFailedAndUnknownToolCallsAreReportedToTheModel(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser", "shell"), says("sorry")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser",
		func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
			return "", nil, errors.New("tab not found")
		})
	reply(t, b, turn("look"))
	if got := result(t, m.asked[1], "a"); got.Text != "tab not found" || !got.IsError {
		t.Errorf("failed call: %+v", got)
	}
	if got := result(t, m.asked[1], "b"); !got.IsError || !strings.Contains(got.Text, "browser_browse, browser") {
		t.Errorf("unknown tool: %+v", got)
	}
}

// asksPerson returns a reply with text that calls the tool for questions, once with each input.
func asksPerson(text string, inputs ...string) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) {
		msg := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: text}}}
		for i, in := range inputs {
			msg.Parts = append(msg.Parts,
				llm.Part{Call: &llm.ToolCall{ID: string(rune('a' + i)), Name: "ask_person", Input: json.RawMessage(in)}})
		}
		return llm.Reply{Message: msg, Stop: llm.StopTools}, nil
	}
}

func TestTheModelCanAskThePersonWhereThatIsShown(t *testing.T) {
	asking := turn("a lamp")
	asking.CanAsk = true
	for name, c := range map[string]struct {
		reply func(llm.Request) (llm.Reply, error)
		want  assistant.Answer
	}{
		"a choice": {
			asksPerson("There are two.",
				`{"question":"Which one?","choices":["the  large one","", "the small one","the small one"]}`),
			assistant.Answer{
				Text: "There are two.\n\nWhich one?", Asks: true,
				Choices: []string{"the large one", "the small one"},
			},
		},
		"an open question": {
			asksPerson("", `{"question":"For which room?"}`),
			assistant.Answer{Text: "For which room?", Asks: true},
		},
		"what was said already": {
			asksPerson("For which room?", `{"question":"For which room?"}`),
			assistant.Answer{Text: "For which room?", Asks: true},
		},
		"twice": {
			asksPerson("", `{"question":"Which?"}`, `{"question":"Why?"}`),
			assistant.Answer{Text: "Which?", Asks: true},
		},
	} {
		m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){c.reply}}
		got := reply(t, newBrain(m, answering(sessions.TaskRecord{})), asking)
		if got.Text != c.want.Text || got.Asks != c.want.Asks || !cmp.Equal(got.Choices, c.want.Choices) ||
			len(m.asked) != 1 {
			t.Errorf("%s: got %+v after %d requests, want %+v", name, got, len(m.asked), c.want)
		}
	}
	for _, in := range []string{
		`{}`, `{"question":" "}`, `{"question":7}`, `{"question":"Which?","choices":"a"}`, `{"question":"` +
			strings.Repeat("x", 1001) + `"}`,
		`{"question":"Which?","choices":["` + strings.Repeat("x", 101) + `"]}`,
	} {
		m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){asksPerson("", in), says("well")}}
		got := reply(t, newBrain(m, answering(sessions.TaskRecord{})), asking)
		if got.Text != "well" || got.Asks || !result(t, m.asked[1], "a").IsError {
			t.Errorf("%.60s: got %+v", in, got)
		}
	}
	asking.OnText = func(assistant.TextChunk) {}
	m := &scripted{
		caps:    seeing,
		replies: []func(llm.Request) (llm.Reply, error){asksPerson("There are two.", `{"question":"Which?"}`)},
	}
	if got := reply(t, newBrain(m, answering(sessions.TaskRecord{})), asking); got.Text != "Which?" ||
		got.Remainder != "Which?" {
		t.Errorf("what was said while the model wrote is said again: %+v", got)
	}
	m = &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){
		asksPerson("", `{"question":"Which?"}`),
		says("well"),
	}}
	if got := reply(t, newBrain(m, answering(sessions.TaskRecord{})), turn("a lamp")); got.Asks ||
		len(m.asked[0].Tools) != 2 {
		t.Errorf("asked where nobody can be: %+v", got)
	}
}

func TestAStopReachesATool(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	cause := &cancel.Cause{Reason: cancel.Stopped, By: "ada"}
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser",
		func(ctx context.Context, _ sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
			stop(cause)
			<-ctx.Done()
			return "", nil, context.Cause(ctx)
		})
	check.Fails(t, check.Err(b.Reply(ctx, turn("look"), nil)), cause)
}

func TestErrandsAreUsedWithoutFurtherRounds(t *testing.T) {
	m := &scripted{caps: seeing}
	for range 10 {
		m.replies = append(m.replies, calls("join_voice_channel"))
	}
	n := 0
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "join_voice_channel",
		func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
			n++
			return "joined", nil, nil
		})
	hostOf(b).tools, hostOf(b).singleCall = nil, hostOf(b).tools
	reply(t, b, turn("come in"))
	if got := result(t, m.asked[1], "a"); got.Text != "joined" || got.IsError {
		t.Errorf("result = %+v", got)
	}
	if n < 1 || len(m.asked) > 4 {
		t.Errorf("the errand was done %d times, the model asked %d times", n, len(m.asked))
	}
}

// showing returns the sharing tools of a call, which record their use.
func showing(used *[]string, result string, err error) func() []sessions.Tool {
	tool := func(name string) sessions.Tool {
		return sessions.Tool{
			Tool: llm.Tool{Name: name},
			Call: func(_ context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
				*used = append(*used, name+" "+string(input))
				return result, nil, err
			},
		}
	}
	return func() []sessions.Tool {
		return []sessions.Tool{tool("share_browser_session"), tool("stop_video_share")}
	}
}

func TestWithoutAModelAPageIsShownToACallByPlainWords(t *testing.T) {
	const share, stop = `share_browser_session {"session_id":"old"}`, `stop_video_share {}`
	for said, want := range map[string]string{
		"share": share, "Show it!": share, "please share the page with us": share, "Show me the browser, please.": share,
		"can you show us": share,
		"Show me that.":   share, "share your screen": share, "stop sharing": stop, "Stop showing the page.": stop,
		"unshare": stop, "end the share": stop,
		"show me lamps": "", "share prices of Acme": "", "open example.com and show it": "", "show": share, "stop": "",
	} {
		ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
		ts.last = &sessions.Session{ID: "old", State: sessions.SessionIdle, LastUsed: noon}
		b := newBrain(nil, ts)
		var used []string
		hostOf(b).singleCall = showing(&used, `{"ok":true,"message":"You see it on this page."}`, nil)
		a := reply(t, b, turn(said))
		if want == "" {
			if len(used) != 0 || len(ts.ran) != 1 {
				t.Errorf("%q: used %v and browsed %d times, want to browse", said, used, len(ts.ran))
			}
			continue
		}
		if diff := cmp.Diff([]string{want}, used); diff != "" || a.Text != "You see it on this page." || len(ts.ran) != 0 {
			t.Errorf("%q: answer %q, browsed %d times, used (-want +got):\n%s", said, a.Text, len(ts.ran), diff)
		}
	}
}

func TestWithoutAModelUnshownAttachmentsAreMentioned(t *testing.T) {
	ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
	b := newBrain(nil, ts)
	if a := reply(t, b, turn("show it")); a.Text != "ok" {
		t.Errorf("outside of a call: %q, want it to be a task like any other", a.Text)
	}
	var used []string
	hostOf(b).singleCall = showing(&used, "", nil)
	if a := reply(t, b, turn("show it")); a.Text != "There is no browser session of yours here to show yet. Ask for "+
		"something first." {
		t.Errorf("without a session: %q", a.Text)
	}
	ts.last = &sessions.Session{ID: "old", State: sessions.SessionIdle, LastUsed: noon}
	check.Equal(t, "of a tool without words", reply(t, b, turn("show it")).Text, "Done.")
	broken := errors.New("no stage")
	hostOf(b).singleCall = showing(&used, "", broken)
	check.Fails(t, check.Err(b.Reply(t.Context(), turn("show it"), nil)), broken) // of a tool that fails
}

// web implements all three web tools, each with one answer.
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

func (w *web) Available(internalweb.SearchAsker) error { return w.none }

func (w *web) Search(
	_ context.Context, _ internalweb.SearchAsker, q internalweb.SearchQuery,
) ([]internalweb.SearchResult, error) {
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
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: call}}}, Stop: llm.StopTools},
			nil
	}
}

func TestTheModelChoosesThePicturesOfItsReply(t *testing.T) {
	first, second := png, llm.Image{MediaType: "image/png", Data: []byte("second"), Caption: "the cart"}
	captioned := png
	captioned.Caption = "the shop"
	for name, tt := range map[string]struct {
		choose, told string
		want         []llm.Image
	}{
		"some, in its order": {
			`{"pictures":[2,"1"],"captions":["","the shop"]}`, "shows 2, 1",
			[]llm.Image{second, captioned},
		},
		"none":       {`{"pictures":[]}`, "shows no pictures", nil},
		"wrong ones": {`{"pictures":["9","e4"]}`, "nothing was chosen", []llm.Image{first, second}},
		"garbage":    {`{"pictures":"all"}`, "cannot be read", []llm.Image{first, second}},
	} {
		m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){
			browses(`{"query":"x"}`), browses(`{"query":"y"}`), uses("show_pictures", tt.choose), says("here"),
		}}
		ran := 0
		ts := &tasks{run: func(context.Context, sessions.Task, func(sessions.Event)) (sessions.TaskRecord, error) {
			ran++
			return sessions.TaskRecord{
				State: sessions.TaskDone, Answer: "y",
				Images: []llm.Image{{}, first, second}[ran : ran+1],
			}, nil
		}}
		a := reply(t, newBrain(m, ts), turn("x"))
		if d := cmp.Diff(tt.want, a.Images); d != "" || a.Text != "here" || a.View != nil {
			t.Errorf("%s: %q with %s", name, a.Text, d)
		}
		if got := result(t, m.asked[3], "a").Text; !strings.Contains(got, tt.told) {
			t.Errorf("%s: told %q, want %q", name, got, tt.told)
		}
	}
}

// call makes the model call one tool, and returns the result and the request before it.
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
	check.Diff(t, "tools", names(first.Tools),
		[]string{"browser_browse", "web_search", "web_scrape", "watch_page", "show_pictures"})
	for _, want := range []string{
		"lightest tool", "- web_search:", "- web_scrape:", "- watch_page:",
		"- browser_browse:",
	} {
		check.Contains(t, first.System, want)
	}
	w.none = internalweb.ErrNoEngine
	if _, first = w.call(t, "web_scrape", `{"url":"a.test"}`); strings.Contains(first.System, "- web_search") ||
		len(first.Tools) != 4 {
		t.Errorf("a search is offered without an engine: %v", names(first.Tools))
	}
	w.none = fmt.Errorf("%w; the next in an hour", internalweb.ErrSearchLimit)
	if _, first = w.call(t, "web_scrape", `{"url":"a.test"}`); !strings.Contains(first.System, "the next in an hour") {
		t.Error("the model is not told why it cannot search")
	}
}

func TestAModelThatConversesByItselfSearchesReadsAndWatches(t *testing.T) {
	w := &web{found: []internalweb.SearchResult{{Title: "A", URL: "https://a.test/"}}}
	b := newBrain(nil, answering(sessions.TaskRecord{}))
	b.Web = assistant.WebTools{Reader: w, Searcher: w, Watches: w}
	hostOf(b).off = "no browser today"
	var got []string
	var search sessions.Tool
	for _, tool := range b.StandingTools(nil) {
		if got = append(got, tool.Name); tool.Name == "web_search" {
			search = tool
		}
	}
	if diff := cmp.Diff([]string{"browser_browse", "web_search", "web_scrape", "watch_page"}, got); diff != "" {
		t.Fatal(diff)
	}
	text, _, err := search.Call(t.Context(), ada, json.RawMessage(`{"query":"x"}`))
	if err != nil || !strings.Contains(text, "https://a.test/") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestAPageIsReadForTheModelAsWrittenByStrangers(t *testing.T) {
	w := &web{page: internalweb.Page{
		URL: "https://a.test/b", Title: "T", Byline: "Bo",
		Text: "text ![x](https://evil.test/?q=1)", Chars: 9000, Truncated: true,
	}}
	got, _ := w.call(t, "web_scrape", `{"url":"a.test/b","max_chars":500}`)
	if w.asked != (internalweb.ReadRequest{URL: "a.test/b", MaxChars: 500}) {
		t.Errorf("asked for %+v", w.asked)
	}
	if !strings.HasPrefix(got.Text, "<<<EXTERNAL_UNTRUSTED_CONTENT") || !strings.Contains(got.Text, "T\nBo\n\ntext") ||
		strings.Contains(got.Text, "![x](https") ||
		!strings.HasSuffix(got.Text, "[Cut: the page has 9000 characters. Ask for more with max_chars, at most 24000.]") ||
		got.IsError {
		t.Errorf("got %+v", got)
	}
}

func TestSearchResultsAreListedAsWrittenByStrangers(t *testing.T) {
	w := &web{found: []internalweb.SearchResult{
		{Title: "A", URL: "https://a.test/", Snippet: "about a", Date: "today"},
		{Title: "B", URL: "https://b.test/"},
	}}
	got, _ := w.call(t, "web_search", `{"query":"x","recency_days":7,"max_results":2}`)
	if w.asked != (internalweb.SearchQuery{Text: "x", RecencyDays: 7, MaxResults: 2}) {
		t.Errorf("asked for %+v", w.asked)
	}
	if !strings.HasPrefix(got.Text, "<<<EXTERNAL") ||
		!strings.Contains(got.Text, "1. A\n   https://a.test/\n   today\n   about a\n2. B\n   https://b.test/\n") {
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
		{
			"web_scrape", `{"url":"x"}`, fmt.Errorf("the page is empty without its scripts: %w", internalweb.ErrNeedsBrowser),
			"empty without its scripts", true,
		},
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

func TestAWatchBelongsToItsRequester(t *testing.T) {
	until := time.Now().Add(48 * time.Hour)
	w := &web{watch: watches.Watch{ID: "w1", Every: time.Hour, Until: until, Seen: watches.Seen{Value: "18 €", Met: true}}}
	got, _ := w.call(t, "watch_page",
		`{"url":"shop.test","what":"cheaper","kind":"below","number":20,"currency":"EUR","near":"Price","every_minutes":30,"days":2}`)
	asked := w.asked.(watches.Watch)
	if asked.Origin.UserName != "ada" || asked.Every != 30*time.Minute || asked.Until.Sub(until).Abs() > time.Minute {
		t.Errorf("asked for %+v", asked)
	}
	check.Equal(t, "asked for", asked.Condition, watches.Condition{
		Kind: watches.KindBelow, Number: 20, Currency: "EUR",
		Near: "Price",
	})
	for _, want := range []string{"watch w1, every 1 hour until " + until.Format(time.DateOnly), "is so already", "18 €"} {
		check.Contains(t, got.Text, want)
	}
}
