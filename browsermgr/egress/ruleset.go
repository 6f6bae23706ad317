package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"clank/browsermgr/egress/policy"
)

// ruleset is what the rules of a moment say. It does not change.
type ruleset struct {
	rules       policy.Rules
	policy      *policy.Policy
	listedHosts *policy.Policy // allows the hosts that a list names, and no others; nil if nobody is asked about others
	err         error
}

// RuleUnreadable refuses everything while the rules cannot be compiled; RuleNotApproved is for hosts that a person was
// asked about. The other rules are those of package policy.
const (
	RuleUnreadable  = "rules-unreadable"
	RuleNotApproved = "not-approved"
)

// unreadableError refuses everything.
type unreadableError struct{ cause error }

func (u *unreadableError) Error() string {
	return fmt.Sprintf("the settings of what pages may reach cannot be read, so nothing is: %v", u.cause)
}
func (u *unreadableError) Unwrap() error { return u.cause }

// NotApprovedError refuses a host that a person was asked about and did not allow.
type NotApprovedError struct {
	Host  string
	Cause error
}

func (e *NotApprovedError) Error() string {
	return fmt.Sprintf("%s is a new host, and nobody allowed it: %v. Ask again in a minute; or the operator can allow this host under "+
		`"Allowed hosts" in the settings.`, e.Host, e.Cause)
}
func (e *NotApprovedError) Unwrap() error { return e.Cause }

// ruleOf returns the stable id of the rule that an error is about; empty if it is no refusal.
func ruleOf(err error) string {
	var refusal *policy.Refusal
	var denied *NotApprovedError
	var broken *unreadableError
	switch {
	case errors.As(err, &refusal):
		return refusal.Rule
	case errors.As(err, &denied):
		return RuleNotApproved
	case errors.As(err, &broken):
		return RuleUnreadable
	}
	return ""
}

func isRefusal(err error) bool { return err != nil && ruleOf(err) != "" }

// currentRuleset returns the law of now. If it differs from that of before, what it forbids is closed.
func (g *Proxy) currentRuleset() *ruleset {
	var now policy.Rules
	if g.Rules != nil {
		now = g.Rules()
	}
	ask := g.AskUnlisted != nil && g.AskUnlisted()
	g.mu.Lock()
	now.Own = append(slices.Clip(now.Own), g.ownListeners...)
	if l := g.ruleset; l != nil && (l.listedHosts != nil) == ask && reflect.DeepEqual(l.rules, now) {
		g.mu.Unlock()
		return l
	}
	l := compileRuleset(now, ask)
	g.ruleset = l
	g.mu.Unlock()
	for _, d := range g.profileProxies() {
		d.enforce(l)
	}
	return l
}

func compileRuleset(rules policy.Rules, ask bool) *ruleset {
	l := &ruleset{rules: rules}
	p, err := policy.Compile(rules)
	if err != nil {
		l.err = &unreadableError{err}
	}
	l.policy = p
	if !ask {
		return l
	}
	// The list is never empty, which would name every host.
	lists := slices.Concat(rules.AllowedHosts, rules.HostAllowlist, []string{"host.invalid"})
	if l.listedHosts, err = policy.Compile(policy.Rules{PrivateNetwork: policy.PrivateAllowed, HostAllowlist: lists}); err != nil {
		l.err, l.listedHosts = &unreadableError{err}, p
	}
	return l
}

// needsApproval says whether a person is asked about the host.
func (l *ruleset) needsApproval(t policy.Target) bool {
	if l.listedHosts == nil || l.err != nil {
		return false
	}
	_, err := l.listedHosts.CheckHostPort(t.Host, t.Port)
	return err != nil
}

func (l *ruleset) address(raw string) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.CheckURL(raw)
}

func (l *ruleset) hostPort(host string, port uint16) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.CheckHostPort(host, port)
}

// stillAllows says whether a connection that is open may stay. There are no addresses if an upstream proxy resolved the
// name.
func (l *ruleset) stillAllows(t policy.Target, addrs []netip.Addr) bool {
	if _, err := l.hostPort(t.Host, t.Port); err != nil {
		return false
	}
	return !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return l.policy.CheckIP(t, a) != nil })
}
