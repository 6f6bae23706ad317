package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/sessions"
)

// Limits of a search.
const (
	maxSearchResults     = 8
	defaultSearchResults = 5

	maxQueryChars  = 400 // characters
	maxRecencyDays = 3650
	attemptTimeout = 5 * time.Second
	maxAttempts    = 2
)

var (
	// ErrInvalidQuery means that the query itself is invalid.
	ErrInvalidQuery = errors.New("the search is not possible")
	// ErrNoEngine means that no search engine is configured.
	ErrNoEngine = errors.New("no search engine is set up")
	// ErrSearchLimit means that no further search is allowed within the hour.
	ErrSearchLimit = errors.New("the searches of this hour are used up")
)

// SearchSetupHint tells an operator how to set up searching.
const SearchSetupHint = `set BRAVE_API_KEY (Brave Search) or SERPAPI_API_KEY (SerpApi) in the environment, or give the address of a SearXNG server ` +
	`under "Web" in the settings`

// SearchQuery is a search request.
type SearchQuery struct {
	Text        string
	RecencyDays int // only pages of the last days, as far as the engine knows their age; 0 means any
	MaxResults  int // 1 to [maxSearchResults]; 0 means [defaultSearchResults]
}

// SearchResult is one result. Its texts are untrusted.
type SearchResult struct {
	Title   string
	URL     string // http or https
	Snippet string
	Date    string // in the engine's own format; may be empty
}

// SearchEngine is a search service. Its errors are *[SearchError] or those of ctx.
type SearchEngine interface {
	Name() string // display name
	Search(ctx context.Context, q SearchQuery) ([]SearchResult, error)
}

// SearchError is why an engine returned no results.
type SearchError struct {
	Engine     string
	Message    string        // for people; without secrets
	Retryable  bool          // the same request may succeed if repeated at once
	RetryAfter time.Duration // time to wait as requested by the engine; 0 if unknown
}

func (e *SearchError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%s: %s; try again in %s", e.Engine, e.Message, e.RetryAfter)
	}
	return e.Engine + ": " + e.Message
}

// Searcher searches within the limits. Set its fields before the first Search; it is then safe for concurrent use.
type Searcher struct {
	// Engine returns the current engine, nil if none is set up.
	Engine func() SearchEngine
	// PerHour returns how many searches one person, and all people of one server, may make within an hour; 0 means
	// none.
	PerHour func() (person, server int)
	Logger  *slog.Logger

	mu     sync.Mutex
	recent map[string][]time.Time // times of the searches within the last hour by key, oldest first
}

// SearchAsker is the person who searches, and the server where they asked; either may be empty.
type SearchAsker struct{ Person, Server string }

// keys returns the limits to which a search counts.
func (a SearchAsker) keys() []string {
	if a.Server == "" {
		return []string{"person " + a.Person}
	}
	return []string{"person " + a.Person, "server " + a.Server}
}

// Available returns nil if a search is possible now, otherwise [ErrNoEngine] or [ErrSearchLimit], with the limit and
// what to do.
func (s *Searcher) Available(by SearchAsker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.available(time.Now(), by)
	return err
}

func (s *Searcher) available(now time.Time, by SearchAsker) (SearchEngine, error) {
	engine := s.Engine()
	if engine == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoEngine, SearchSetupHint)
	}
	for key, times := range s.recent {
		for len(times) > 0 && now.Sub(times[0]) >= time.Hour {
			times = times[1:]
		}
		if s.recent[key] = times; len(times) == 0 {
			delete(s.recent, key)
		}
	}
	person, server := s.PerHour()
	for i, key := range by.keys() {
		most, whose := person, "one person may make %d, and you have"
		if i > 0 {
			most, whose = server, "the people of one server may make %d, and those of this one have"
		}
		times := s.recent[key]
		if most == 0 {
			return nil, fmt.Errorf("%w: the settings allow no searches", ErrNoEngine)
		}
		if len(times) >= most {
			wait := time.Hour - now.Sub(times[len(times)-most])
			return nil, fmt.Errorf("%w: "+whose+"; the next is possible in %s", ErrSearchLimit, most,
				sessions.DurationText(wait))
		}
	}
	return engine, nil
}

// Search queries the engine, retrying once after a temporary failure, with five seconds for each attempt. Fewer
// results than requested, or none, are not an error. When ctx ends it returns the cause.
func (s *Searcher) Search(ctx context.Context, by SearchAsker, q SearchQuery) ([]SearchResult, error) {
	q, err := normalizeQuery(q)
	if err != nil {
		return nil, err
	}
	engine, err := s.countSearch(by)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		found, err := searchOnce(ctx, engine, q)
		if err == nil {
			return cleanResults(found, q.MaxResults), nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failed, ok := errors.AsType[*SearchError](err)
		if n == maxAttempts || !ok || !failed.Retryable {
			return nil, fmt.Errorf("search the web: %w", err)
		}
		s.logger().InfoContext(ctx, "search is tried again", "engine", engine.Name(), "error", err)
	}
}

func (s *Searcher) countSearch(by SearchAsker) (SearchEngine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	engine, err := s.available(now, by)
	if err != nil {
		return nil, err
	}
	if s.recent == nil {
		s.recent = map[string][]time.Time{}
	}
	for _, key := range by.keys() {
		s.recent[key] = append(s.recent[key], now)
	}
	return engine, nil
}

func searchOnce(ctx context.Context, e SearchEngine, q SearchQuery) ([]SearchResult, error) {
	slow := &SearchError{Engine: e.Name(), Message: fmt.Sprintf("no answer within %s", attemptTimeout), Retryable: true}
	limited, cancel := context.WithTimeoutCause(ctx, attemptTimeout, slow)
	defer cancel()
	found, err := e.Search(limited, q)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return found, err
}

// normalizeQuery returns q adjusted to the limits.
func normalizeQuery(q SearchQuery) (SearchQuery, error) {
	q.Text = strings.Join(strings.Fields(strings.ToValidUTF8(q.Text, " ")), " ")
	switch n := utf8.RuneCountInString(q.Text); {
	case n == 0:
		return q, fmt.Errorf("%w: the query is empty", ErrInvalidQuery)
	case n > maxQueryChars:
		return q, fmt.Errorf("%w: the query has %d characters, %d are allowed", ErrInvalidQuery, n, maxQueryChars)
	case q.RecencyDays < 0:
		return q, fmt.Errorf("%w: recency_days is below 0", ErrInvalidQuery)
	}
	q.RecencyDays = min(q.RecencyDays, maxRecencyDays)
	q.MaxResults = cmp.Or(q.MaxResults, defaultSearchResults)
	q.MaxResults = min(max(q.MaxResults, 1), maxSearchResults)
	return q, nil
}

// cleanResults returns the first most results with a valid address, without duplicates.
func cleanResults(found []SearchResult, most int) []SearchResult {
	var out []SearchResult
	seen := make(map[string]bool)
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		r.URL = u.String()
		r.Title, r.Snippet, r.Date = plainSnippet(r.Title, 200), plainSnippet(r.Snippet, 500), plainSnippet(r.Date, 60)
		if out = append(out, r); len(out) == most {
			break
		}
	}
	return out
}

func (s *Searcher) logger() *slog.Logger { return cmp.Or(s.Logger, slog.New(slog.DiscardHandler)) }
