// Package logins has the logins of the vault filled into the pages of tasks that may use them. It sees no secret for longer than
// that takes; how they are written is package login's business.
package logins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/login"
	"clank/browsermgr/page"
	"clank/sessions"
	"clank/vault"
)

// Kept lets the agent loop have logins of the vault filled into its pages.
type Kept struct {
	Vault   *vault.Vault
	Keeper  *login.Keeper
	Windows *browsermgr.Manager
}

// List implements browseagent.Logins.
func (k Kept) List(ctx context.Context, t sessions.Task) ([]browseagent.Login, error) {
	entries, err := k.Vault.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var list []browseagent.Login
	for _, e := range entries {
		if mayUse(e, t.Origin) {
			list = append(list, browseagent.Login{Name: e.Name, Origins: shownOrigins(e), Username: e.Username, Code: e.HasTOTP})
		}
	}
	return list, nil
}

// mayUse: the operator's own doors may use every entry, other people those that name them or a role of theirs.
func mayUse(e vault.Entry, o sessions.Origin) bool {
	switch o.Kind {
	case sessions.FromTerminal, sessions.FromDashboard:
		return true
	default:
		return e.Allows(o.User, o.Roles)
	}
}

func shownOrigins(e vault.Entry) []string {
	shown := make([]string, len(e.Origins))
	for i, o := range e.Origins {
		shown[i] = vault.ShowOrigin(o)
	}
	return shown
}

// entry finds an entry that the task may use.
func (k Kept) entry(ctx context.Context, t sessions.Task, name string) (vault.Entry, error) {
	entries, err := k.Vault.Entries(ctx)
	if err != nil {
		return vault.Entry{}, err
	}
	for _, e := range entries {
		if e.Name == name && mayUse(e, t.Origin) {
			return e, nil
		}
	}
	return vault.Entry{}, fmt.Errorf("%w: %s", vault.ErrNotFound, name)
}

// tab runs something with the tab that a session has in front of it.
func (k Kept) tab(ctx context.Context, s sessions.Session, do func(*page.Tab) error) error {
	w, ok := k.Windows.Lookup(s.ID)
	if !ok {
		return errors.New("no page is open: open the one that asks for the login")
	}
	return w.Tab(ctx, do)
}

// Where implements browseagent.Logins.
func (k Kept) Where(ctx context.Context, s sessions.Session, t sessions.Task, name string, code bool) (origin, about string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return "", "", err
	}
	digits := 0
	if code {
		if digits = e.Digits; !e.HasTOTP {
			return "", "", noCodes(name)
		}
	}
	err = k.tab(ctx, s, func(tab *page.Tab) (err error) {
		origin, err = k.Keeper.Where(ctx, tab, name, e.Origins, digits)
		return err
	})
	switch {
	case err != nil:
		return "", "", err
	case code:
		about = fmt.Sprintf("Enter the one-time code of the login %q at %s", name, vault.ShowOrigin(origin))
	case e.Username == "":
		about = fmt.Sprintf("Log in at %s with the login %q", vault.ShowOrigin(origin), name)
	default:
		about = fmt.Sprintf("Log in at %s as %q with the login %q", vault.ShowOrigin(origin), e.Username, name)
	}
	return origin, about, nil
}

func noCodes(name string) error { return fmt.Errorf("the login %s makes no one-time codes", name) }

// ErrElsewhere says that the page is not that any more which a person was asked about.
var ErrElsewhere = errors.New("the page has become another one since a person agreed: fill it in again")

// Fill implements browseagent.Logins.
func (k Kept) Fill(ctx context.Context, s sessions.Session, t sessions.Task, name, at string) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	agreed := at == "" // what comes after the page that was asked about belongs to the same login
	var res login.Result
	err = k.tab(ctx, s, func(tab *page.Tab) (err error) {
		res, err = k.Keeper.Fill(ctx, tab, login.Request{Name: name, Origins: e.Origins, Submit: at != "", Reveal: func(ctx context.Context, origin string) (login.Secret, error) {
			if agreed = agreed || origin == at; !agreed {
				return nil, ErrElsewhere
			}
			return k.Vault.Reveal(ctx, name, origin)
		}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []string{filledIn(res)}, nil
}

// filledIn says what was done, and what is left to do.
func filledIn(res login.Result) string {
	what := "password"
	switch {
	case res.Username && res.Password:
		what = "user name and password"
	case res.Username:
		what = "user name"
	}
	text := what + " filled in at " + vault.ShowOrigin(res.Origin)
	switch {
	case res.Submitted && !res.Password:
		text += " and sent; the page does not ask for a password yet: fill the login in again when it does"
	case res.Submitted:
		text += " and sent"
	case !res.Password:
		text += "; the page does not ask for a password yet: go on, and fill the login in again when it does"
	default:
		text += "; it is not sent yet"
	}
	return text
}

// codeTime is how much longer than the present moment a code should hold.
const codeTime = 2 * time.Second

// FillCode implements browseagent.Logins.
func (k Kept) FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name, at string) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	if !e.HasTOTP {
		return nil, noCodes(name)
	}
	err = k.tab(ctx, s, func(tab *page.Tab) error {
		_, err := k.Keeper.FillCode(ctx, tab, name, e.Origins, e.Digits, func(ctx context.Context, origin string) (string, error) {
			if origin != at {
				return "", ErrElsewhere
			}
			secret, err := k.Vault.Reveal(ctx, name, origin)
			if err != nil {
				return "", err
			}
			return secret.Code(time.Now().Add(codeTime)), nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []string{"the code is filled in at " + vault.ShowOrigin(at) + "; it is not sent yet"}, nil
}
