package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"clank/browsermgr/egress/policy"
)

// law is what the rules of a moment say. It does not change.
type law struct {
	rules  policy.Rules
	policy *policy.Policy
	named  *policy.Policy // allows the hosts that a list names, and no others; nil if nobody is asked about others
	err    error
}

// RuleUnreadable refuses everything while the rules cannot be compiled; RuleNotApproved is for hosts that a person was
// asked about. The other rules are those of package policy.
const (
	RuleUnreadable  = "rules-unreadable"
	RuleNotApproved = "not-approved"
)

// unreadable refuses everything.
type unreadable struct{ cause error }

func (u *unreadable) Error() string {
	return fmt.Sprintf("the settings of what pages may reach cannot be read, so nothing is: %v", u.cause)
}
func (u *unreadable) Unwrap() error { return u.cause }

// NotApproved refuses a host that a person was asked about and did not allow.
type NotApproved struct {
	Host  string
	Cause error
}

func (e *NotApproved) Error() string {
	return fmt.Sprintf("%s is a new host, and nobody allowed it: %v. Ask again in a minute; or the operator can allow this host under "+
		`"Hosts that may be reached" in the settings.`, e.Host, e.Cause)
}
func (e *NotApproved) Unwrap() error { return e.Cause }

// ruleOf is the stable id of the rule that an error is about; empty if it is no refusal.
func ruleOf(err error) string {
	var refusal *policy.Refusal
	var denied *NotApproved
	var broken *unreadable
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

// rules is the law of now. If it differs from that of before, what it forbids is closed.
func (g *Gate) rules() *law {
	var now policy.Rules
	if g.Rules != nil {
		now = g.Rules()
	}
	ask := g.Ask != nil && g.Ask()
	g.mu.Lock()
	now.Own = append(slices.Clip(now.Own), g.own...)
	if l := g.law; l != nil && (l.named != nil) == ask && reflect.DeepEqual(l.rules, now) {
		g.mu.Unlock()
		return l
	}
	l := compile(now, ask)
	g.law = l
	g.mu.Unlock()
	for _, d := range g.all() {
		d.enforce(l)
	}
	return l
}

func compile(rules policy.Rules, ask bool) *law {
	l := &law{rules: rules}
	p, err := policy.Compile(rules)
	if err != nil {
		l.err = &unreadable{err}
	}
	l.policy = p
	if !ask {
		return l
	}
	// The list is never empty, which would name every host.
	lists := slices.Concat(rules.AllowedHosts, rules.HostAllowlist, []string{"host.invalid"})
	if l.named, err = policy.Compile(policy.Rules{PrivateNetwork: policy.Allowed, HostAllowlist: lists}); err != nil {
		l.err, l.named = &unreadable{err}, p
	}
	return l
}

// asks says whether a person is asked about the host.
func (l *law) asks(t policy.Target) bool {
	if l.named == nil || l.err != nil {
		return false
	}
	_, err := l.named.HostPort(t.Host, t.Port)
	return err != nil
}

func (l *law) address(raw string) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.Address(raw)
}

func (l *law) hostPort(host string, port uint16) (policy.Target, error) {
	if l.err != nil {
		return policy.Target{}, l.err
	}
	return l.policy.HostPort(host, port)
}

// still says whether a connection that is open may stay: addr is not valid if an upstream proxy found it.
func (l *law) still(t policy.Target, addr netip.Addr) bool {
	if _, err := l.hostPort(t.Host, t.Port); err != nil {
		return false
	}
	return !addr.IsValid() || l.policy.IP(t, addr) == nil
}
