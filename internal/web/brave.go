package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Brave is the Brave Search API, version 1.
type Brave struct {
	Key    string
	Base   string       // in place of https://api.search.brave.com
	Client *http.Client // nil is one without anything special
}

// Name implements [Engine].
func (b *Brave) Name() string { return "Brave Search" }

// Search implements [Engine].
func (b *Brave) Search(ctx context.Context, q SearchQuery) ([]SearchResult, error) {
	v := url.Values{"q": {q.Text}, "count": {strconv.Itoa(q.MaxResults)}, "text_decorations": {"false"}, "result_filter": {"web"}}
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
		engine: b.Name(), address: cmp.Or(b.Base, "https://api.search.brave.com") + "/res/v1/web/search", query: v, client: b.Client,
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
