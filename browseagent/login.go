package browseagent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/sessions"
	"clank/sessions/agent"
)

// Logins fills stored logins into pages. The model never learns the credentials. The program that wires this package
// implements it.
type Logins interface {
	// List returns the logins that a task may use.
	List(ctx context.Context, t sessions.Task) ([]Login, error)
	// Where says where a login, or its one-time code, would be filled in: the origin of the document, and a sentence
	// for the person who is asked. It reveals no secret.
	Where(ctx context.Context, s sessions.Session, t sessions.Task, name string,
		code bool) (origin, about string, err error)
	// Fill fills the user name and password of a login into the session's page and, with submit, submits them. at is
	// the origin that a person approved; Fill does nothing on any other. It checks again whether the task may use the
	// login and whether the login is meant for the page. The notes say what was done.
	Fill(ctx context.Context, s sessions.Session, t sessions.Task, name, at string,
		submit bool) (notes []string, err error)
	// FillCode fills in the login's one-time code at an approved origin.
	FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name, at string) (notes []string, err error)
}

// Login is the part of a login that a model may know.
type Login struct {
	Name     string
	Origins  []string
	Username string
	Code     bool // it has one-time codes
}

const (
	toolFillLogin = "fill_login"
	toolFillCode  = "fill_totp"

	classLogin = "login" // the class of questions about logins
)

// availableWith reports whether a tool is useful with these logins.
func (t *tool) availableWith(logins []Login) bool {
	switch t.name {
	case toolFillLogin:
		return len(logins) > 0
	case toolFillCode:
		return slices.ContainsFunc(logins, func(l Login) bool { return l.Code })
	}
	return true
}

// checkLogin returns an outcome that says what is wrong with the name of a login; nil if it is valid.
func (r *run) checkLogin(name string, code bool) *callOutcome {
	var names []string
	for _, l := range r.logins {
		if l.Name == name && (l.Code || !code) {
			return nil
		}
		if l.Code || !code {
			names = append(names, agent.Quote(l.Name))
		}
	}
	if len(names) == 0 {
		return invalidCall("There is no login that you may use for this.")
	}
	return invalidCall("There is no login %s that you may use for this. There are: %s.", agent.Quote(name),
		strings.Join(names, ", "))
}

// fillApproved asks a person and then fills in the login at the origin they approved, whether or not it is submitted:
// a later click could submit it. The time they take does not count towards the timeout.
func (r *run) fillApproved(ctx context.Context, t *tool, a toolArgs) callOutcome {
	name, code := a.str("entry"), t.name == toolFillCode
	if wrong := r.checkLogin(name, code); wrong != nil {
		return *wrong
	}
	if r.agent.Approver == nil {
		return *invalidCall("Not done: a person has to agree to it, and nobody can be asked here. Let the person log in.")
	}
	q := sessions.Question{Classes: []string{classLogin}}
	looking := r.runWithin(ctx, a, func(ctx context.Context) (o callOutcome) {
		q.Origin, q.Text, o.err = r.agent.Logins.Where(ctx, r.session, r.task, name, code)
		return o
	})
	if looking.err != nil {
		return looking
	}
	decision, err := r.askPeople(ctx, q)
	if err != nil {
		return *refusedOutcome(err)
	}
	o := r.runWithin(ctx, a, func(ctx context.Context) (o callOutcome) {
		if code {
			o.notes, o.err = r.agent.Logins.FillCode(ctx, r.session, r.task, name, q.Origin)
		} else {
			o.notes, o.err = r.agent.Logins.Fill(ctx, r.session, r.task, name, q.Origin, a.flag("submit"))
		}
		return o
	})
	o.decision = decision
	return o
}

func labelFillLogin(a toolArgs, _ elementNames) string {
	label := "fill in the login " + agent.Quote(a.str("entry"))
	if a.flag("submit") {
		label += " and send it"
	}
	return label
}

func labelFillCode(a toolArgs, _ elementNames) string {
	return "fill in the code of " + agent.Quote(a.str("entry"))
}

// loginPrompt tells the model about the logins; "" if there are none.
func loginPrompt(logins []Login) string {
	if len(logins) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nLogins that are kept for this task. Fill one in with fill_login on the page that asks for it. " +
		"You do not know the passwords: never ask for them, and never type one.")
	for _, l := range logins {
		fmt.Fprintf(&b, "\n- %s: for %s", l.Name, strings.Join(l.Origins, " and "))
		if l.Username != "" {
			fmt.Fprintf(&b, ", user name %s", agent.Quote(l.Username))
		}
		if l.Code {
			b.WriteString(", with one-time codes (fill_totp)")
		}
	}
	return b.String()
}
