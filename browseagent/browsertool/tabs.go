package browsertool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"clank/internal/untrusted"
)

// openedTab is a tab that a session opened.
type openedTab struct {
	target   *Target
	profile  string // as it was asked for
	targetID string // raw
	names    []string
}

// is reports whether id names the tab.
func (t openedTab) is(target *Target, profile string, id string) bool {
	return id != "" && t.profile == profile && sameTarget(t.target, target) && (t.targetID == id || slices.Contains(t.names, id))
}

// sameTarget compares by what calls go through: nodes are listed anew each time.
func sameTarget(a, b *Target) bool { return a == b || (a.ID != "" && a.ID == b.ID) }

func listTabs(ctx context.Context, c *toolCall) (Result, error) {
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
	details := pickFields(answer, "running")
	details["tabCount"] = len(list)
	return Result{Text: untrusted.Wrap(encodeJSON(answer)), Details: markExternal("tabs", details)}, nil
}

// openTab opens a tab and remembers that this session did.
func openTab(ctx context.Context, c *toolCall) (Result, error) {
	address := c.targetURL()
	if address == "" {
		return Result{}, newCallError("open needs targetUrl")
	}
	body := c.in.body("label")
	body["url"] = address
	answer, err := c.post(ctx, "/tabs/open", body)
	if err != nil {
		return Result{}, err
	}
	c.trackTab(ctx, answer)
	delete(answer, "wsUrl")
	return pageResult("open", answer), nil
}

// targetURL returns where open and navigate go.
func (c *toolCall) targetURL() string { return cmp.Or(c.in.str("targetUrl"), c.in.str("url")) }

func focusTab(ctx context.Context, c *toolCall) (Result, error) {
	if c.in.str("targetId") == "" {
		return Result{}, newCallError("focus needs targetId")
	}
	return c.postPage(ctx, "focus", "/tabs/focus", map[string]any{"targetId": c.in.str("targetId")})
}

// closeTab closes the named tab, or the current one.
func closeTab(ctx context.Context, c *toolCall) (Result, error) {
	id := c.in.str("targetId")
	if id == "" {
		c.act = map[string]any{"kind": "close"}
		return performAct(ctx, c)
	}
	if id == "." || id == ".." {
		return Result{}, newCallError("targetId does not name a tab") // nor may it name another route
	}
	answer, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return Result{}, err
	}
	c.session.forgetTabs(c.target, c.profile, id, callInput(answer).str("targetId"))
	return pageResult("close", answer), nil
}

// trackTab remembers the tab that answer describes. If the session has ended meanwhile, it is closed at once.
func (c *toolCall) trackTab(ctx context.Context, answer map[string]any) {
	in := callInput(answer)
	t := openedTab{target: c.target, profile: c.profile, targetID: in.str("targetId")}
	for _, key := range []string{"tabId", "label", "suggestedTargetId"} {
		if s := in.str(key); s != "" {
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

// updateTabID learns that a tab of ours got another raw id.
func (c *toolCall) updateTabID(answer map[string]any) {
	asked, now := c.in.str("targetId"), callInput(answer).str("targetId")
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

// forgetTabs drops tabs that are closed.
func (s *Session) forgetTabs(target *Target, profile string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tabs = slices.DeleteFunc(s.tabs, func(t openedTab) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return t.is(target, profile, id) })
	})
}

// Close ends the session and closes the tabs it opened that are still there. No call starts after it. It may be called
// more than once, and it may be called while a call runs; a tab that this call opens is closed, too.
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
func (t openedTab) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout+t.target.Slack)
	defer cancel()
	c := &toolCall{target: t.target, profile: t.profile}
	_, err := c.send(ctx, http.MethodDelete, "/tabs/"+url.PathEscape(t.targetID), url.Values{"targetIdMode": {"raw"}}, nil)
	if isTabGone(err) {
		return nil
	}
	return err
}
