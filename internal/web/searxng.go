package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// SearXNG is a SearXNG metasearch server. Its settings must list json among the formats.
type SearXNG struct {
	URL    string       // base URL without /search
	Client *http.Client // nil uses the default client
}

// Name implements [SearchEngine].
func (s *SearXNG) Name() string { return "SearXNG" }

// Search implements [SearchEngine]. Recency is rounded up to a day, a week, a month or a year; longer periods are not
// restricted.
func (s *SearXNG) Search(ctx context.Context, q SearchQuery) ([]SearchResult, error) {
	v := url.Values{"q": {q.Text}, "format": {"json"}, "categories": {"general"}}
	if r := searxngTimeRange(q.RecencyDays); r != "" {
		v.Set("time_range", r)
	}
	var got struct {
		Results []struct {
			Title     string `json:"title"`
			URL       string `json:"url"`
			Content   string `json:"content"`
			Published string `json:"publishedDate"`
		} `json:"results"`
		Silent [][]string `json:"unresponsive_engines"` // name and reason
	}
	err := engineRequest{
		engine: s.Name(), address: strings.TrimRight(s.URL, "/") + "/search", query: v, client: s.Client,
		explain: explainSearXNG,
	}.get(ctx, &got)
	if err != nil {
		return nil, err
	}
	var out []SearchResult
	for _, r := range got.Results {
		out = append(out, SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Content, Date: r.Published})
	}
	if len(out) == 0 && len(got.Silent) > 0 {
		return nil, &SearchError{Engine: s.Name(), Message: "none of its engines answered (" +
			unresponsiveEngines(got.Silent) + ")", Retryable: true}
	}
	return out, nil
}

func unresponsiveEngines(engines [][]string) string {
	var out []string
	for _, e := range engines[:min(len(engines), 5)] {
		out = append(out, plainSnippet(strings.Join(e, ": "), 80))
	}
	return strings.Join(out, ", ")
}

func searxngTimeRange(days int) string {
	switch {
	case days == 0 || days > 366:
		return ""
	case days == 1:
		return "day"
	case days <= 7:
		return "week"
	case days <= 31:
		return "month"
	}
	return "year"
}

func explainSearXNG(status int, _ []byte) string {
	if status == http.StatusForbidden {
		return fmt.Sprintf("list %q under search.formats in its settings", "json")
	}
	return ""
}
