package browsertool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"clank/untrusted"
)

// tab is a tab that a session opened.
type tab struct {
	target   *Target
	profile  string // as it was asked for
	targetID string // raw
	names    []string
}

// is reports whether id names the tab.
func (t tab) is(target *Target, profile string, id string) bool {
	return id != "" && t.profile == profile && sameTarget(t.target, target) && (t.targetID == id || slices.Contains(t.names, id))
}

// sameTarget compares by what calls go through: nodes are listed anew each time.
func sameTarget(a, b *Target) bool { return a == b || (a.ID != "" && a.ID == b.ID) }

func listTabs(ctx context.Context, c *call) (Result, error) {
	answer, err := c.get(ctx, "/tabs", nil)
	if err != nil {
		return Result{}, err
	}
	list, _ := answer["tabs"].([]any)
	for _, v := range list {
		if one, ok := v.(map[string]any); ok {
			delete(one, "wsUrl") // of no use to a model
		}
	}
	details := pick(answer, "running")
	details["tabCount"] = len(list)
	return Result{Text: untrusted.Wrap(encode(answer)), Details: external("tabs", details)}, nil
}

// open opens a tab and remembers that this session did.
func open(ctx context.Context, c *call) (Result, error) {
	address := c.address()
	if address == "" {
		return Result{}, wrong("open needs targetUrl")
	}
	body := c.in.body("label")
	body["url"] = address
	answer, err := c.post(ctx, "/tabs/open", body)
	if err != nil {
		return Result{}, err
	}
	c.track(ctx, answer)
	delete(answer, "wsUrl")
	return wrapped("open", answer), nil
}

// address is where open and navigate go.
func (c *call) address() string {
	if s := c.in.text("targetUrl"); s != "" {
		return s
	}
	return c.in.text("url")
}

func focus(ctx context.Context, c *call) (Result, error) {
	if c.in.text("targetId") == "" {
		return Result{}, wrong("focus needs targetId")
	}
	answer, err := c.post(ctx, "/tabs/focus", map[string]any{"targetId": c.in.text("targetId")})
	if err != nil {
		return Result{}, err
	}
	return wrapped("focus", answer), nil
}

// closeTab closes the named tab, or the current one.
func closeTab(ctx context.Context, c *call) (Result, error) {
	id := c.in.text("targetId")
	if id == "" {
		c.act = map[string]any{"kind": "close"}
		return doAct(ctx, c)
	}
	if id == "." || id == ".." {
		return Result{}, wrong("targetId does not name a tab") // nor may it name another route
	}
	answer, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return Result{}, err
	}
	c.session.forget(c.target, c.profile, id, input(answer).text("targetId"))
	return wrapped("close", answer), nil
}

// track remembers the tab that answer describes. If the session has ended
// meanwhile, it is closed at once.
func (c *call) track(ctx context.Context, answer map[string]any) {
	in := input(answer)
	t := tab{target: c.target, profile: c.profile, targetID: in.text("targetId")}
	for _, key := range []string{"tabId", "label", "suggestedTargetId"} {
		if s := in.text(key); s != "" {
			t.names = append(t.names, s)
		}
	}
	if t.targetID == "" || t.targetID == "." || t.targetID == ".." {
		return
	}
	s := c.session
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.tabs = append(s.tabs, t)
	}
	s.mu.Unlock()
	if ended {
		_ = t.close(context.WithoutCancel(ctx)) // nobody is left to be told
	}
}

// follow learns that a tab of ours got another raw id.
func (c *call) follow(answer map[string]any) {
	asked, now := c.in.text("targetId"), input(answer).text("targetId")
	if asked == "" || now == "" {
		return
	}
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.tabs {
		if s.tabs[i].is(c.target, c.profile, asked) {
			s.tabs[i].targetID = now
		}
	}
}

// forget drops tabs that are closed.
func (s *Session) forget(target *Target, profile string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tabs = slices.DeleteFunc(s.tabs, func(t tab) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return t.is(target, profile, id) })
	})
}

// Close ends the session and closes the tabs it opened that are still there.
// No call starts after it. It may be called more than once, and it may be
// called while a call runs; a tab that this call opens is closed, too.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	tabs := s.tabs
	s.tabs, s.ended = nil, true
	s.mu.Unlock()
	var errs []error
	for _, t := range tabs {
		if err := t.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close tab %s: %w", t.targetID, err))
		}
	}
	return errors.Join(errs...)
}

// close closes the very tab, never one that an alias has moved to.
func (t tab) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout+t.target.Slack)
	defer cancel()
	c := &call{target: t.target, profile: t.profile}
	_, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(t.targetID), url.Values{"targetIdMode": {"raw"}}, nil)
	if isGone(err) {
		return nil
	}
	return err
}
