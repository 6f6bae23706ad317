package assistant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/internal/watches"
	"clank/internal/web"
	"clank/llm"
	"clank/sessions"
)

// WebTools are the web tools that need no browser. Nil fields are unavailable.
type WebTools struct {
	Reader   PageReader
	Searcher Searcher
	Watches  Watches
}

// PageReader reads the text of a page; see [web.Reader].
type PageReader interface {
	Read(ctx context.Context, q web.ReadRequest) (web.Page, error)
}

// Searcher searches the web; see [web.Searcher].
type Searcher interface {
	// Available returns nil if a search is possible now.
	Available(by web.SearchAsker) error
	Search(ctx context.Context, by web.SearchAsker, q web.SearchQuery) ([]web.SearchResult, error)
}

// Watches manages watches; see [watches.Runner].
type Watches interface {
	Add(ctx context.Context, w watches.Watch) (watches.Watch, error)
}

const webToolFailed = 400 // characters of an error

var (
	searchTool = llm.Tool{
		Name: "web_search",
		Description: "Search the web: titles, addresses and short extracts of pages. For finding pages and current facts. " +
			"Read a page that matters with web_scrape.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "description": "What to search for, at most 400 characters"},
				"recency_days": {"type": "integer", "description": "Only pages of the last so many days"},
				"max_results": {"type": "integer", "minimum": 1, "maximum": 8, "description": "Default 5"}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
	}
	scrapeTool = llm.Tool{
		Name: "web_scrape",
		Description: "Read the text of a page whose address you know, without a browser: quick, but without scripts, " +
			"pictures and logins.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"url": {"type": "string", "description": "http or https address"},
				"max_chars": {"type": "integer", "minimum": 350, "maximum": 24000, "description": "How much of the text, default 8000"}
			},
			"required": ["url"],
			"additionalProperties": false
		}`),
	}
	watchTool = llm.Tool{
		Name: "watch_page",
		Description: "Watch a page for the person who wrote the last message, and tell them here when something happens: " +
			"when it changes, when a number (a price) drops below or rises above a limit, when words appear or go. Use judged " +
			"only where none of these fits. Only when they ask for it.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"url": {"type": "string", "description": "http or https address of the page"},
				"what": {"type": "string", "description": "What they wait for, in their words, at most 300 characters"},
				"kind": {"type": "string", "enum": ["changes", "below", "above", "contains", "lacks", "judged"], "description": "Default changes"},
				"number": {"type": "number", "description": "For below and above"},
				"currency": {"type": "string", "description": "For below and above: only amounts in this currency, such as EUR"},
				"text": {"type": "string", "description": "For contains and lacks: the words to look for"},
				"near": {"type": "string", "description": "Words of the page that stand beside what matters, if the page has more than that"},
				"every_minutes": {"type": "integer", "minimum": 1, "description": "How often to look, default 60"},
				"days": {"type": "integer", "minimum": 1, "maximum": 180, "description": "For how long, default 30"}
			},
			"required": ["url", "what"],
			"additionalProperties": false
		}`),
	}
)

// searchAsker returns the person at o, to whom the search limit applies.
func searchAsker(o sessions.Origin) web.SearchAsker {
	return web.SearchAsker{Person: string(o.Kind) + " " + o.User, Server: o.Guild}
}

// tools returns the tools that are available now for the person at o.
func (w WebTools) tools(o sessions.Origin) []sessions.Tool {
	var out []sessions.Tool
	if w.Searcher != nil && w.Searcher.Available(searchAsker(o)) == nil {
		out = append(out, sessions.Tool{Tool: searchTool, Call: w.search})
	}
	if w.Reader != nil {
		out = append(out, sessions.Tool{Tool: scrapeTool, Call: w.scrape})
	}
	if w.Watches != nil {
		out = append(out, sessions.Tool{Tool: watchTool, Call: w.watch})
	}
	return out
}

// Advice explains which tool to use when; empty without any tools.
func (w WebTools) Advice(o sessions.Origin) string {
	var parts []string
	for _, t := range w.tools(o) {
		switch t.Name {
		case searchTool.Name:
			parts = append(parts, "- web_search: to find pages, and for current facts.")
		case scrapeTool.Name:
			parts = append(parts, "- web_scrape: for the text of a page whose address is known.")
		case watchTool.Name:
			parts = append(parts, "- watch_page: when somebody wants to be told later that a page changes, a price drops, or "+
				"words appear.")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	parts = append(parts, "- browser_browse: when somebody asks for the browser, when it matters how a page looks, for "+
		"screenshots, and for pages that need scripts, clicks, typing or a login. You can show screenshots of pages with "+
		"it, so never say that you cannot.")
	if err := w.searchUnavailable(o); err != "" {
		parts = append(parts, "Searching the web is not possible now: "+err)
	}
	return "Choose the lightest tool that does it; there is no fixed order:\n" + strings.Join(parts, "\n") +
		"\nWhen web_search or web_scrape fails or brings nothing, browser_browse may still do it."
}

// searchUnavailable returns why search is unavailable although it could be set up.
func (w WebTools) searchUnavailable(o sessions.Origin) string {
	if w.Searcher == nil {
		return ""
	}
	if err := w.Searcher.Available(searchAsker(o)); errors.Is(err, web.ErrSearchLimit) {
		return err.Error()
	}
	return ""
}

func (w WebTools) search(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
	var in struct {
		Query       string `json:"query"`
		RecencyDays int    `json:"recency_days"`
		MaxResults  int    `json:"max_results"`
	}
	if err := decodeStrict(input, &in); err != nil {
		return "", nil, err
	}
	q := web.SearchQuery{Text: in.Query, RecencyDays: in.RecencyDays, MaxResults: in.MaxResults}
	found, err := w.Searcher.Search(ctx, searchAsker(o), q)
	if err != nil {
		return "", nil, suggestBrowser(err, errors.Is(err, web.ErrInvalidQuery))
	}
	if len(found) == 0 {
		return "Nothing was found. Try other words, or browser_browse.", nil, nil
	}
	var b strings.Builder
	for i, r := range found {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, r.Title, r.URL)
		if r.Date != "" {
			fmt.Fprintf(&b, "   %s\n", r.Date)
		}
		if r.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", r.Snippet)
		}
	}
	return untrusted.Wrap(b.String()), nil, nil
}

func (w WebTools) scrape(ctx context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
	var in struct {
		URL      string `json:"url"`
		MaxChars int    `json:"max_chars"`
	}
	if err := decodeStrict(input, &in); err != nil {
		return "", nil, err
	}
	page, err := w.Reader.Read(ctx, web.ReadRequest{URL: in.URL, MaxChars: in.MaxChars})
	if err != nil {
		return "", nil, suggestBrowser(err, errors.Is(err, web.ErrInvalidAddress))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", page.URL)
	if page.Title != "" {
		fmt.Fprintf(&b, "%s\n", page.Title)
	}
	if page.Byline != "" {
		fmt.Fprintf(&b, "%s\n", page.Byline)
	}
	fmt.Fprintf(&b, "\n%s", page.Text)
	text := untrusted.Wrap(b.String())
	if page.Truncated {
		text += fmt.Sprintf("\n[Cut: the page has %d characters. Ask for more with max_chars, at most %d.]", page.Chars,
			web.MaxPageChars)
	}
	return text, nil, nil
}

func (w WebTools) watch(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
	var in struct {
		URL      string       `json:"url"`
		What     string       `json:"what"`
		Kind     watches.Kind `json:"kind"`
		Number   *float64     `json:"number"`
		Currency string       `json:"currency"`
		Text     string       `json:"text"`
		Near     string       `json:"near"`
		Every    int          `json:"every_minutes"`
		Days     int          `json:"days"`
	}
	if err := decodeStrict(input, &in); err != nil {
		return "", nil, err
	}
	c := watches.Condition{Kind: in.Kind, Currency: in.Currency, Text: in.Text, Near: in.Near}
	if in.Number != nil {
		c.Number = *in.Number
	} else if in.Kind == watches.KindBelow || in.Kind == watches.KindAbove {
		return "", nil, errors.New("the number is missing that it should be compared with")
	}
	wanted := watches.Watch{
		Origin: o, URL: in.URL, What: in.What, Condition: c,
		Every: time.Duration(in.Every) * time.Minute,
	}
	if in.Days != 0 {
		wanted.Until = time.Now().Add(time.Duration(in.Days) * 24 * time.Hour)
	}
	got, err := w.Watches.Add(ctx, wanted)
	if err != nil {
		return "", nil, errors.New(untrusted.CleanLine(err.Error(), webToolFailed))
	}
	return watchStartedText(got), nil, nil
}

// watchStartedText tells the model what the watch will do and what it sees now, so that the person can check that the
// right thing is watched.
func watchStartedText(w watches.Watch) string {
	text := fmt.Sprintf("Watching it: watch %s, every %s until %s. They are told here, and can end it with /clank "+
		"watches.",
		w.ID, sessions.DurationText(w.Every), w.Until.Format(time.DateOnly))
	if w.Seen.Met {
		text += " What they wait for is so already: say that, and that they will be told when it is so again after it " +
			"was not."
	}
	if w.Seen.Value != "" {
		text += "\nTell them the number that is there now, so that they see whether it is the right one:\n" +
			untrusted.Wrap(w.Seen.Value+"\n"+w.Seen.Title)
	}
	return text
}

// suggestBrowser returns an error for the model, with the advice to use the browser if that may help.
func suggestBrowser(err error, own bool) error {
	text := untrusted.CleanLine(err.Error(), webToolFailed)
	if own {
		return errors.New(text)
	}
	return fmt.Errorf("%s. browser_browse may do it instead", strings.TrimRight(text, "."))
}

// decodeStrict decodes the input of a tool; members that are not in its schema are an error.
func decodeStrict(input json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the input cannot be read: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the input is more than one JSON object")
	}
	return nil
}
