package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// SerpAPI searches Google through SerpApi.
type SerpAPI struct {
	Key    string
	Base   string       // replaces https://serpapi.com
	Client *http.Client // nil uses the default client
}

// Name implements [SearchEngine].
func (s *SerpAPI) Name() string { return "SerpApi" }

// Search implements [SearchEngine].
func (s *SerpAPI) Search(ctx context.Context, q SearchQuery) ([]SearchResult, error) {
	v := url.Values{"engine": {"google"}, "q": {q.Text}, "num": {strconv.Itoa(q.MaxResults)}, "api_key": {s.Key}}
	if q.RecencyDays > 0 {
		v.Set("tbs", "qdr:d"+strconv.Itoa(q.RecencyDays))
	}
	var got struct {
		Error   string `json:"error"`
		Results []struct {
			Title   string `json:"title"`
			Link    string `json:"link"`
			Snippet string `json:"snippet"`
			Date    string `json:"date"`
		} `json:"organic_results"`
	}
	err := engineRequest{
		engine: s.Name(), address: cmp.Or(s.Base, "https://serpapi.com") + "/search.json", query: v, client: s.Client,
		explain: s.explain,
	}.get(ctx, &got)
	switch {
	case err != nil:
		return nil, err
	case strings.Contains(got.Error, "hasn't returned any results"):
		return nil, nil // SerpApi reports an empty result as an error
	case got.Error != "":
		return nil, &SearchError{Engine: s.Name(), Message: plainSnippet(s.withoutKey(got.Error), 300)}
	}
	var out []SearchResult
	for _, r := range got.Results {
		out = append(out, SearchResult{Title: r.Title, URL: r.Link, Snippet: r.Snippet, Date: r.Date})
	}
	return out, nil
}

func (s *SerpAPI) explain(_ int, body []byte) string {
	var got struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &got) != nil {
		return ""
	}
	return s.withoutKey(got.Error)
}

// withoutKey removes the key, which was part of the address.
func (s *SerpAPI) withoutKey(text string) string {
	if s.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "(key)")
}

// Brave searches with the Brave Search API, version 1.
type Brave struct {
	Key    string
	Base   string       // replaces https://api.search.brave.com
	Client *http.Client // nil uses the default client
}

// Name implements [SearchEngine].
func (b *Brave) Name() string { return "Brave Search" }

// Search implements [SearchEngine].
func (b *Brave) Search(ctx context.Context, q SearchQuery) ([]SearchResult, error) {
	v := url.Values{
		"q": {q.Text}, "count": {strconv.Itoa(q.MaxResults)}, "text_decorations": {"false"},
		"result_filter": {"web"},
	}
	if q.RecencyDays > 0 {
		now := time.Now()
		v.Set("freshness", now.AddDate(0, 0, -q.RecencyDays).Format(time.DateOnly)+"to"+now.Format(time.DateOnly))
	}
	var got struct {
		Web struct {
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				Age         string `json:"age"`
				PageAge     string `json:"page_age"`
			} `json:"results"`
		} `json:"web"`
	}
	err := engineRequest{
		engine: b.Name(), address: cmp.Or(b.Base, "https://api.search.brave.com") + "/res/v1/web/search", query: v,
		client: b.Client,
		header: map[string]string{"X-Subscription-Token": b.Key}, explain: explainBrave,
	}.get(ctx, &got)
	if err != nil {
		return nil, err
	}
	var out []SearchResult
	for _, r := range got.Web.Results {
		out = append(out, SearchResult{Title: r.Title, URL: r.URL, Snippet: r.Description, Date: cmp.Or(r.Age, r.PageAge)})
	}
	return out, nil
}

func explainBrave(_ int, body []byte) string {
	var got struct {
		Error struct {
			Detail string `json:"detail"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &got) != nil {
		return ""
	}
	return got.Error.Detail
}
