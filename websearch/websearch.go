// Package websearch asks a search engine's API for pages about something:
// Brave Search, SerpApi or a SearXNG server.
//
// It reads none of the pages that it finds (package webread does), and it never
// turns to another engine by itself. Titles and snippets were written by
// strangers, and the caller marks them so before a model sees them.
package websearch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a search.
const (
	MostResults    = 8
	DefaultResults = 5

	maxQuery    = 400 // characters
	maxRecency  = 3650
	attemptTime = 5 * time.Second
	attempts    = 2
)

var (
	// ErrInvalid says that the query itself is wrong.
	ErrInvalid = errors.New("the search is not possible")
	// ErrUnavailable says that there is no engine to ask.
	ErrUnavailable = errors.New("no search engine is set up")
	// ErrSpent says that no further search is allowed within the hour.
	ErrSpent = errors.New("the searches of this hour are used up")
)

// HowTo tells an operator how searching is set up.
const HowTo = `set BRAVE_API_KEY (Brave Search) or SERPAPI_API_KEY (SerpApi) in the environment, or give the address of a SearXNG server ` +
	`under "Web" in the settings`

// Query is what to look for.
type Query struct {
	Text        string
	RecencyDays int // only pages of the last so many days, as far as the engine knows their age; 0 = any
	MaxResults  int // 1 to [MostResults]; 0 means [DefaultResults]
}

// Result is one page. All of it comes from strangers.
type Result struct {
	Title   string
	URL     string // http or https
	Snippet string
	Date    string // in whatever way the engine says it; may be empty
}

// Engine is one way to search. Its errors are [*Error], and those of ctx.
type Engine interface {
	Name() string // as people read it
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Error says why an engine gave no results.
type Error struct {
	Engine  string
	Message string        // for people; without secrets
	Again   bool          // the same request may succeed at once
	Wait    time.Duration // the engine wants to be left alone for this long; 0 = not said
}

func (e *Error) Error() string {
	if e.Wait > 0 {
		return fmt.Sprintf("%s: %s; try again in %s", e.Engine, e.Message, e.Wait)
	}
	return e.Engine + ": " + e.Message
}

// Searcher searches within the limits. Set its fields before the first Search;
// it is then safe for concurrent use.
type Searcher struct {
	// Engine returns the engine to ask now, nil if none is set up.
	Engine func() Engine
	// PerHour is how many searches there may be within an hour, 0 for none.
	PerHour func() int
	Logger  *slog.Logger
	Now     func() time.Time // nil is [time.Now]

	mu   sync.Mutex
	last []time.Time // of the searches within the last hour, oldest first
}

// Available is nil if a search could be tried now. Otherwise it is
// [ErrUnavailable] or [ErrSpent], with the way out.
func (s *Searcher) Available() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.available()
}

func (s *Searcher) available() error {
	most := s.PerHour()
	switch {
	case s.Engine() == nil:
		return fmt.Errorf("%w: %s", ErrUnavailable, HowTo)
	case most == 0:
		return fmt.Errorf("%w: the settings allow no searches", ErrUnavailable)
	}
	now := s.now()
	for len(s.last) > 0 && now.Sub(s.last[0]) >= time.Hour {
		s.last = s.last[1:]
	}
	if len(s.last) >= most {
		wait := time.Hour - now.Sub(s.last[len(s.last)-most])
		return fmt.Errorf("%w (%d are allowed); the next is possible in %s", ErrSpent, most, wait.Round(time.Second))
	}
	return nil
}

// Search asks the engine, a second time if the first attempt broke down, and
// gives each attempt five seconds. Fewer results than asked for are no error,
// and neither are none. When ctx ends its cause is returned.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Result, error) {
	q, err := normal(q)
	if err != nil {
		return nil, err
	}
	engine, err := s.take()
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		found, err := attempt(ctx, engine, q)
		if err == nil {
			return clean(found, q.MaxResults), nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failed, ok := errors.AsType[*Error](err)
		if n == attempts || !ok || !failed.Again {
			return nil, fmt.Errorf("search the web: %w", err)
		}
		s.logger().InfoContext(ctx, "search is tried again", "engine", engine.Name(), "error", err)
	}
}

// take counts a search.
func (s *Searcher) take() (Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.available(); err != nil {
		return nil, err
	}
	engine := s.Engine()
	if engine == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, HowTo)
	}
	s.last = append(s.last, s.now())
	return engine, nil
}

func attempt(ctx context.Context, e Engine, q Query) ([]Result, error) {
	slow := &Error{Engine: e.Name(), Message: fmt.Sprintf("no answer within %s", attemptTime), Again: true}
	limited, cancel := context.WithTimeoutCause(ctx, attemptTime, slow)
	defer cancel()
	found, err := e.Search(limited, q)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return found, err
}

// normal is q within its limits.
func normal(q Query) (Query, error) {
	q.Text = strings.Join(strings.Fields(strings.ToValidUTF8(q.Text, " ")), " ")
	switch n := utf8.RuneCountInString(q.Text); {
	case n == 0:
		return q, fmt.Errorf("%w: the query is empty", ErrInvalid)
	case n > maxQuery:
		return q, fmt.Errorf("%w: the query has %d characters, %d are allowed", ErrInvalid, n, maxQuery)
	case q.RecencyDays < 0:
		return q, fmt.Errorf("%w: recency_days is below 0", ErrInvalid)
	}
	q.RecencyDays = min(q.RecencyDays, maxRecency)
	if q.MaxResults == 0 {
		q.MaxResults = DefaultResults
	}
	q.MaxResults = min(max(q.MaxResults, 1), MostResults)
	return q, nil
}

// clean keeps the first results that lead to a page, each page once.
func clean(found []Result, most int) []Result {
	var out []Result
	seen := make(map[string]bool)
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		r.URL = u.String()
		r.Title, r.Snippet, r.Date = words(r.Title, 200), words(r.Snippet, 500), words(r.Date, 60)
		if out = append(out, r); len(out) == most {
			break
		}
	}
	return out
}

func (s *Searcher) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *Searcher) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}
