package browseagent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/sessions"
)

// Logins fills kept logins into pages. The model never gets to know what they hold. It is implemented by the program that
// wires this package.
type Logins interface {
	// List tells the logins that a task may use.
	List(ctx context.Context, t sessions.Task) ([]Login, error)
	// Fill fills user name and password of a login into the page of a session, and with submit sends them. The notes say what
	// was done. It checks anew whether the task may, and whether the page is one that the login is for.
	Fill(ctx context.Context, s sessions.Session, t sessions.Task, name string, submit bool) (notes []string, err error)
	// FillCode fills in the login's one-time code, after a person has agreed.
	FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name string) (notes []string, err error)
}

// Login is what a model may know of a login.
type Login struct {
	Name     string
	Origins  []string
	Username string
	Code     bool // it makes one-time codes
}

const (
	toolFillLogin = "fill_login"
	toolFillCode  = "fill_totp"
)

// usable reports whether a tool makes sense with these logins.
func (t *tool) usable(logins []Login) bool {
	switch t.name {
	case toolFillLogin:
		return len(logins) > 0
	case toolFillCode:
		return slices.ContainsFunc(logins, func(l Login) bool { return l.Code })
	}
	return true
}

// known returns an outcome that says what is wrong with the name of a login; nil if nothing is.
func (r *run) known(name string, code bool) *outcome {
	var names []string
	for _, l := range r.logins {
		if l.Name == name && (l.Code || !code) {
			return nil
		}
		if l.Code || !code {
			names = append(names, quote(l.Name))
		}
	}
	if len(names) == 0 {
		return misuse("There is no login that you may use for this.")
	}
	return misuse("There is no login %s that you may use for this. There are: %s.", quote(name), strings.Join(names, ", "))
}

func fillLogin(ctx context.Context, r *run, _ Page, a args) outcome {
	if wrong := r.known(a.str("entry"), false); wrong != nil {
		return *wrong
	}
	notes, err := r.agent.Logins.Fill(ctx, r.session, r.task, a.str("entry"), a.flag("submit"))
	return outcome{notes: notes, err: err}
}

func fillCode(ctx context.Context, r *run, _ Page, a args) outcome {
	if wrong := r.known(a.str("entry"), true); wrong != nil {
		return *wrong
	}
	notes, err := r.agent.Logins.FillCode(ctx, r.session, r.task, a.str("entry"))
	return outcome{notes: notes, err: err}
}

func labelFillLogin(a args, _ names) string {
	label := "fill in the login " + quote(a.str("entry"))
	if a.flag("submit") {
		label += " and send it"
	}
	return label
}

func labelFillCode(a args, _ names) string { return "fill in the code of " + quote(a.str("entry")) }

// loginPrompt tells the model about the logins; "" if there are none.
func loginPrompt(logins []Login) string {
	if len(logins) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nLogins that are kept for this task. Fill one in with fill_login on the page that asks for it. You do not know the passwords: never ask for them, and never type one.")
	for _, l := range logins {
		fmt.Fprintf(&b, "\n- %s: for %s", l.Name, strings.Join(l.Origins, " and "))
		if l.Username != "" {
			fmt.Fprintf(&b, ", user name %s", quote(l.Username))
		}
		if l.Code {
			b.WriteString(", with one-time codes (fill_totp)")
		}
	}
	return b.String()
}
