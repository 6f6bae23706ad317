package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// callTyped calls Do and returns the answer as a T.
func callTyped[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (T, error) {
	var answer T
	err := c.Do(ctx, method, path, query, body, &answer)
	return answer, err
}

// Status tells how the profile is, without starting it.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return callTyped[Status](ctx, c, http.MethodGet, "/", nil, nil)
}

// Doctor examines the profile; deep also takes a snapshot.
func (c *Client) Doctor(ctx context.Context, deep bool) (Report, error) {
	query := url.Values{}
	if deep {
		query.Set("deep", "true")
	}
	return callTyped[Report](ctx, c, http.MethodGet, "/doctor", query, nil)
}

// Profiles lists the profiles.
func (c *Client) Profiles(ctx context.Context) ([]ProfileInfo, error) {
	answer, err := callTyped[struct {
		Profiles []ProfileInfo `json:"profiles"`
	}](ctx, c, http.MethodGet, "/profiles", nil, nil)
	return answer.Profiles, err
}

// Start starts the browser of the profile. headless overrides its configuration this once, unless it is nil.
func (c *Client) Start(ctx context.Context, headless *bool) error {
	query := url.Values{}
	if headless != nil {
		query.Set("headless", strconv.FormatBool(*headless))
	}
	return c.Do(ctx, http.MethodPost, "/start", query, nil, nil)
}

// Stop ends the browser of the profile and tells whether one was running.
func (c *Client) Stop(ctx context.Context) (stopped bool, err error) {
	answer, err := callTyped[struct {
		Stopped bool `json:"stopped"`
	}](ctx, c, http.MethodPost, "/stop", nil, nil)
	return answer.Stopped, err
}

// Tabs lists the tabs. It never starts the browser.
func (c *Client) Tabs(ctx context.Context) (TabList, error) {
	return callTyped[TabList](ctx, c, http.MethodGet, "/tabs", nil, nil)
}

// Open opens address in a new tab, which gets label unless it is "".
func (c *Client) Open(ctx context.Context, address, label string) (Tab, error) {
	body := map[string]any{"url": address}
	if label != "" {
		body["label"] = label
	}
	return callTyped[Tab](ctx, c, http.MethodPost, "/tabs/open", nil, body)
}

// Focus brings a tab to the front.
func (c *Client) Focus(ctx context.Context, targetID string) error {
	return c.Do(ctx, http.MethodPost, "/tabs/focus", nil, map[string]any{"targetId": targetID}, nil)
}

// CloseTab closes a tab.
func (c *Client) CloseTab(ctx context.Context, targetID string) error {
	return c.Do(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(targetID), nil, nil, nil)
}

// Navigate goes to address in a tab; targetID "" is the last used one. milliseconds is how long it may take, or 0.
func (c *Client) Navigate(ctx context.Context, targetID, address string, milliseconds int) (Result, error) {
	body := targetBody(targetID)
	body["url"] = address
	if milliseconds > 0 {
		body["timeoutMs"] = milliseconds
	}
	return callTyped[Result](ctx, c, http.MethodPost, "/navigate", nil, body)
}

// Snapshot reads a page. options are the parameters of the contract, such as targetId, interactive and maxChars.
func (c *Client) Snapshot(ctx context.Context, options url.Values) (Snapshot, error) {
	return callTyped[Snapshot](ctx, c, http.MethodGet, "/snapshot", options, nil)
}

// Act does one action: a struct or map with the field kind and what that kind needs.
func (c *Client) Act(ctx context.Context, action any) (Result, error) {
	return callTyped[Result](ctx, c, http.MethodPost, "/act", nil, action)
}

// ScreenshotOptions says what a screenshot shows. The zero value is what can be seen of the last used tab.
type ScreenshotOptions struct {
	TargetID string `json:"targetId,omitempty"`
	FullPage bool   `json:"fullPage,omitempty"`
	Ref      string `json:"ref,omitempty"`
	Element  string `json:"element,omitempty"` // CSS selector
	Type     string `json:"type,omitempty"`    // png or jpeg
	Labels   bool   `json:"labels,omitempty"`
	Timeout  int    `json:"timeoutMs,omitempty"`
}

// Screenshot makes a picture of a page.
func (c *Client) Screenshot(ctx context.Context, shot ScreenshotOptions) (SavedFile, error) {
	return callTyped[SavedFile](ctx, c, http.MethodPost, "/screenshot", nil, shot)
}

// PDF prints a page into a document.
func (c *Client) PDF(ctx context.Context, targetID string) (SavedFile, error) {
	return callTyped[SavedFile](ctx, c, http.MethodPost, "/pdf", nil, targetBody(targetID))
}

func targetBody(targetID string) map[string]any {
	body := map[string]any{}
	if targetID != "" {
		body["targetId"] = targetID
	}
	return body
}
