package api

import (
	"context"
	"net/http"
	"net/url"
)

// Watches returns all watches, newest first.
func (c *Client) Watches(ctx context.Context) ([]WatchView, error) {
	var out []WatchView
	err := c.call(ctx, http.MethodGet, "/api/watches", nil, &out)
	return out, err
}

// AddWatch begins a watch. It waits for the first look at the page.
func (c *Client) AddWatch(ctx context.Context, w WatchRequest) (WatchView, error) {
	var out WatchView
	err := c.call(ctx, http.MethodPost, "/api/watches", w, &out)
	return out, err
}

// EndWatch ends a watch.
func (c *Client) EndWatch(ctx context.Context, id string) (WatchView, error) {
	var out WatchView
	err := c.call(ctx, http.MethodPost, "/api/watches/"+url.PathEscape(id)+"/end", struct{}{}, &out)
	return out, err
}
