package browsertool

import (
	"context"
	"slices"
)

// Guest restricts a call to the profiles of one person, and to the tabs that the session or pages in its tabs opened.
type Guest struct {
	// Profile returns the profile to use when the model asks for want, which may be "". Its error is the refusal.
	Profile func(want string) (string, error)
}

var (
	// operatorActions affect more than a guest's own tabs.
	operatorActions = []string{"start", "stop", "profiles", "doctor"}
	// tablessActions need no tab.
	tablessActions = []string{"open", "tabs", "status"}
)

// confine restricts a guest's call to an allowed profile and tab.
func (c *toolCall) confine(ctx context.Context, action string) error {
	if c.guest == nil {
		return nil
	}
	if slices.Contains(operatorActions, action) {
		return newCallError(action + " is for the operator of this browser; open and work tabs of your own")
	}
	switch {
	case sameTarget(c.target, c.tool.Targets.Host):
		name, err := c.guest.Profile(c.profile)
		if err != nil {
			return newCallError(err.Error())
		}
		c.profile = name
	case c.profile != "":
		return newCallError("the profiles of other machines are for the operator of this browser; leave profile out")
	}
	if slices.Contains(tablessActions, action) {
		return nil
	}
	id, own := c.session.ownTab(c.target, c.profile, c.in.str("targetId"))
	if !own && c.in.str("targetId") != "" {
		c.findPopups(ctx)
		id, own = c.session.ownTab(c.target, c.profile, c.in.str("targetId"))
	}
	if !own {
		return newCallError("that is no tab of this conversation; action=open opens one, and its answer has the targetId")
	}
	c.in["targetId"], c.act["targetId"] = id, id
	return nil
}

// ownTab returns the raw id of the tab with that name that this session opened; without a name, the last used one.
func (s *Session) ownTab(target *Target, profile, name string) (targetID string, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range slices.Backward(s.tabs) {
		if name == "" && t.profile == profile && sameTarget(t.target, target) || t.is(target, profile, name) {
			s.tabs = append(slices.Delete(s.tabs, i, i+1), t)
			return t.targetID, true
		}
	}
	return "", false
}

// ownTabs returns only those tabs of a list that a guest's session opened.
func (c *toolCall) ownTabs(list []any) []any {
	if c.guest == nil {
		return list
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return slices.DeleteFunc(list, func(v any) bool {
		one, _ := v.(map[string]any)
		id := callInput(one).str("targetId")
		return !slices.ContainsFunc(c.session.tabs, func(t openedTab) bool { return t.is(c.target, c.profile, id) })
	})
}
