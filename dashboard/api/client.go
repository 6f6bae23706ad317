package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"clank/cancel"
	"clank/internal/budget"
	"clank/internal/telemetry"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// Client is a client of the dashboard's API. It is safe for concurrent use.
type Client struct {
	Base       string                  // "http://127.0.0.1:8787"
	Token      string                  // the server's secret of this run, or an access token
	OnQuestion func(ev approval.Event) // called by Follow with the task's questions; nil if nobody answers them
	HTTP       *http.Client            // nil uses a client without a timeout: contexts bound the calls
}

// StatusError is an error response of the server. Its text is for people.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return e.Text }

// Health asks whether a server is running. It needs no token.
func (c *Client) Health(ctx context.Context) (Health, error) {
	h, err := fetch[Health](ctx, c, http.MethodGet, "/api/health", nil)
	if err == nil && !h.OK {
		err = fmt.Errorf("%s is not clank", c.Base)
	}
	return h, err
}

// Start queues a task. The task runs in the server until it ends or [Client.Stop] is called. After an error it does
// not run: once it is sent, the response is awaited even if ctx ends, so that the caller can stop the task.
func (c *Client) Start(ctx context.Context, t TaskRequest) (TaskStarted, error) {
	if ctx.Err() != nil {
		return TaskStarted{}, context.Cause(ctx)
	}
	ctx, done := cancel.Linger(ctx, callTimeout, answerTime)
	defer done()
	if t.Until.IsZero() {
		t.Until = time.Now().Add(callTimeout - answerTime)
	}
	out, err := fetch[TaskStarted](ctx, c, http.MethodPost, "/api/tasks", t)
	if err == nil && out.TaskID == "" {
		err = errors.New("start the task: the server took the message as a wish to stop")
	}
	return out, err
}

// Answer answers a question; see Client.OnQuestion.
func (c *Client) Answer(ctx context.Context, id string, a AnswerRequest) error {
	return c.call(ctx, http.MethodPost, "/api/questions/"+url.PathEscape(id), a, nil)
}

// Task returns a task with its steps, without image data.
func (c *Client) Task(ctx context.Context, id string) (TaskView, error) {
	return fetch[TaskView](ctx, c, http.MethodGet, "/api/tasks/"+url.PathEscape(id), nil)
}

// Tasks returns the tasks that the query selects, newest first: "session", "origin", "before", "limit", "steps".
func (c *Client) Tasks(ctx context.Context, query url.Values) ([]TaskView, error) {
	return fetch[[]TaskView](ctx, c, http.MethodGet, "/api/tasks?"+query.Encode(), nil)
}

// Stop stops a task and reports whether it was still running or waiting.
func (c *Client) Stop(ctx context.Context, id string) (bool, error) {
	out, err := fetch[TasksStopped](ctx, c, http.MethodPost, "/api/tasks/"+url.PathEscape(id)+"/stop", struct{}{})
	return len(out.Stopped) > 0, err
}

// View returns the screenshot taken after a step.
func (c *Client) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	return c.picture(ctx, fmt.Sprintf("/api/steps/%s/%d/view", url.PathEscape(taskID), n))
}

// Image returns an image of a task's answer; the first is 0.
func (c *Client) Image(ctx context.Context, taskID string, i int) (llm.Image, error) {
	return c.picture(ctx, fmt.Sprintf("/api/tasks/%s/images/%d", url.PathEscape(taskID), i))
}

// Sessions returns the sessions of the dashboard and of terminals, last used first.
func (c *Client) Sessions(ctx context.Context) ([]SessionView, error) {
	return fetch[[]SessionView](ctx, c, http.MethodGet, "/api/sessions", nil)
}

// Records returns telemetry records, newest first.
func (c *Client) Records(ctx context.Context, q telemetry.Query) ([]telemetry.Record, error) {
	v := url.Values{"guild": {q.Guild}, "task": {q.Task}}
	for _, kind := range q.Kinds {
		v.Add("kind", string(kind))
	}
	for name, at := range map[string]time.Time{"since": q.Since, "before": q.Before} {
		if !at.IsZero() {
			v.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return fetch[[]telemetry.Record](ctx, c, http.MethodGet, "/api/records?"+v.Encode(), nil)
}

// CloseSession closes a session for good.
func (c *Client) CloseSession(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/api/sessions/"+url.PathEscape(id)+"/close", struct{}{}, nil)
}

// SendNote sends a note to a running or waiting task. id is the id of the task or its session. It returns the id of
// the task.
func (c *Client) SendNote(ctx context.Context, id string, what NoteRequest) (string, error) {
	out, err := fetch[NoteAccepted](ctx, c, http.MethodPost, "/api/tasks/"+url.PathEscape(id)+"/say", what)
	return out.TaskID, err
}

// Settings returns all settings.
func (c *Client) Settings(ctx context.Context) (SettingsView, error) {
	return fetch[SettingsView](ctx, c, http.MethodGet, "/api/settings", nil)
}

// Weaknesses returns the weaknesses of the server's installation, serious ones first.
func (c *Client) Weaknesses(ctx context.Context) ([]Weakness, error) {
	return fetch[[]Weakness](ctx, c, http.MethodGet, "/api/weaknesses", nil)
}

// Discord returns the state of the server's connection to Discord.
func (c *Client) Discord(ctx context.Context) (Discord, error) {
	return fetch[Discord](ctx, c, http.MethodGet, "/api/discord", nil)
}

// ChangeSettings changes settings, all or none of them, and returns the new settings.
func (c *Client) ChangeSettings(ctx context.Context, change SettingsChange) (SettingsView, error) {
	return fetch[SettingsView](ctx, c, http.MethodPut, "/api/settings", change)
}

// Budget returns the state of spending.
func (c *Client) Budget(ctx context.Context) (budget.Overview, error) {
	return fetch[budget.Overview](ctx, c, http.MethodGet, "/api/budget", nil)
}

// Watches returns all watches, newest first.
func (c *Client) Watches(ctx context.Context) ([]WatchView, error) {
	return fetch[[]WatchView](ctx, c, http.MethodGet, "/api/watches", nil)
}

// NewLink creates a link to a session.
func (c *Client) NewLink(ctx context.Context, in LinkRequest) (LinkView, error) {
	return fetch[LinkView](ctx, c, http.MethodPost, "/api/links", in)
}

// Links returns the links to a session, or all links if session is empty.
func (c *Client) Links(ctx context.Context, session string) ([]LinkView, error) {
	return fetch[[]LinkView](ctx, c, http.MethodGet, "/api/links?session="+url.QueryEscape(session), nil)
}

// RevokeLinks revokes the links to a session and returns their number.
func (c *Client) RevokeLinks(ctx context.Context, session string) (int, error) {
	path := "/api/links/revoke?session=" + url.QueryEscape(session)
	out, err := fetch[LinksRevoked](ctx, c, http.MethodPost, path, struct{}{})
	return out.Count, err
}

// Setup checks the configuration of the server.
func (c *Client) Setup(ctx context.Context) ([]SetupCheck, error) {
	return fetch[[]SetupCheck](ctx, c, http.MethodGet, "/api/setup", nil)
}

// SaveServiceKey stores the key of a service in the server's vault.
func (c *Client) SaveServiceKey(ctx context.Context, name, value string) error {
	_, err := fetch[struct{}](ctx, c, http.MethodPost, "/api/setup/key", ServiceKey{Name: name, Value: value})
	return err
}

// LoginLink returns a new address that signs a browser in, once.
func (c *Client) LoginLink(ctx context.Context) (LoginLink, error) {
	return fetch[LoginLink](ctx, c, http.MethodPost, "/api/login-link", struct{}{})
}

// CheckSharing tests whether people elsewhere can reach the addresses that links use.
func (c *Client) CheckSharing(ctx context.Context) ([]SharingCheck, error) {
	return fetch[[]SharingCheck](ctx, c, http.MethodGet, "/api/links/check", nil)
}

// AddWatch creates a watch and waits for its first check of the page.
func (c *Client) AddWatch(ctx context.Context, w WatchRequest) (WatchView, error) {
	return fetch[WatchView](ctx, c, http.MethodPost, "/api/watches", w)
}

// EndWatch ends a watch.
func (c *Client) EndWatch(ctx context.Context, id string) (WatchView, error) {
	return fetch[WatchView](ctx, c, http.MethodPost, "/api/watches/"+url.PathEscape(id)+"/end", struct{}{})
}

// SendFile uploads a file for a task. If ctx ends before the upload does, SendFile closes r if r is an io.Closer.
func (c *Client) SendFile(ctx context.Context, name string, r io.Reader) (f sessions.File, err error) {
	path := "/api/files?name=" + url.QueryEscape(name)
	if source, ok := r.(io.Closer); ok { // net/http waits for a Read of the body even after ctx has ended
		stop := context.AfterFunc(ctx, func() { _ = source.Close() })
		defer stop()
	}
	res, err := c.send(ctx, http.MethodPost, path, io.NopCloser(r),
		http.Header{"Content-Type": {"application/octet-stream"}})
	if err != nil {
		return f, err
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&f); err != nil {
		return f, fmt.Errorf("send %q: the answer was not understood: %w", name, err)
	}
	return f, nil
}

// Download returns the contents of a file that a task downloaded. The caller closes it.
func (c *Client) Download(ctx context.Context, taskID, file string) (io.ReadCloser, error) {
	path := "/api/tasks/" + url.PathEscape(taskID) + "/downloads/" + url.PathEscape(file)
	res, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

func (c *Client) picture(ctx context.Context, path string) (llm.Image, error) {
	res, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return llm.Image{}, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return llm.Image{}, fmt.Errorf("read %s: %w", path, err)
	}
	return llm.Image{MediaType: res.Header.Get("Content-Type"), Data: data}, nil
}

// maxFailure is the maximum number of bytes read of an error response.
const maxFailure = 1 << 20

// callTimeout bounds calls that are answered immediately.
const callTimeout = 30 * time.Second

// answerTime is the part of callTimeout reserved for the response.
const answerTime = 5 * time.Second

// fetch sends in as JSON and decodes the response.
func fetch[T any](ctx context.Context, c *Client, method, path string, in any) (out T, err error) {
	err = c.call(ctx, method, path, in, &out)
	return out, err
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, done := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("no answer within %v", callTimeout))
	defer done()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(data)
	}
	res, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if out == nil || res.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: the answer was not understood: %w", method, path, err)
	}
	return nil
}

// send sends a request and returns a successful response. The caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader,
	header http.Header,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, header)
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	res, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
	dial := (*net.OpError)(nil)
	switch {
	case ctx.Err() == nil && errors.As(err, &dial) && dial.Op == "dial":
		return nil, fmt.Errorf("no clank answers at %s (%w): start it again with \"clank serve\"", c.Base, dial.Err)
	case err != nil:
		return nil, fmt.Errorf("ask the clank at %s: %w", c.Base, cmp.Or(context.Cause(ctx), err))
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	said := ErrorResponse{}
	if json.NewDecoder(io.LimitReader(res.Body, maxFailure)).Decode(&said) != nil || said.Error == "" {
		said.Error = fmt.Sprintf("%s %s: %s answered %s", method, path, c.Base, res.Status)
	}
	return nil, &StatusError{res.StatusCode, said.Error}
}
