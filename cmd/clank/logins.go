package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/login"
	"clank/browsermgr/page"
	"clank/sessions"
	"clank/vault"
)

// kept lets the agent loop have logins of the vault filled into its pages.
type kept struct {
	vault   *vault.Vault
	keeper  *login.Keeper
	windows *browsermgr.Manager
	// consent asks a person whether something may be done with a login in the page of this origin. Nil agrees to fill a login
	// in and send it, and never to a one-time code.
	consent func(ctx context.Context, s sessions.Session, t sessions.Task, text, origin string) error
}

// List implements browseagent.Logins.
func (k kept) List(ctx context.Context, t sessions.Task) ([]browseagent.Login, error) {
	entries, err := k.vault.Entries(ctx)
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
func (k kept) entry(ctx context.Context, t sessions.Task, name string) (vault.Entry, error) {
	entries, err := k.vault.Entries(ctx)
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
func (k kept) tab(ctx context.Context, s sessions.Session, do func(*page.Tab) error) error {
	w, ok := k.windows.Lookup(s.ID)
	if !ok {
		return errors.New("no page is open: open the one that asks for the login")
	}
	return w.Tab(ctx, do)
}

// Fill implements browseagent.Logins.
func (k kept) Fill(ctx context.Context, s sessions.Session, t sessions.Task, name string, submit bool) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	var res login.Result
	err = k.tab(ctx, s, func(tab *page.Tab) (err error) {
		res, err = k.keeper.Fill(ctx, tab, login.Request{Name: name, Origins: e.Origins, Submit: submit, Reveal: func(ctx context.Context, origin string) (login.Secret, error) {
			if submit && k.consent != nil {
				if err := k.consent(ctx, s, t, fmt.Sprintf("log in at %s as %s", vault.ShowOrigin(origin), e.Username), origin); err != nil {
					return nil, err
				}
			}
			return k.vault.Reveal(ctx, name, origin)
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

// errNobodyAsked says why a code is refused where nobody can be asked.
var errNobodyAsked = errors.New("a one-time code is filled in only after a person has agreed, and nobody can be asked here: let the person enter it")

// codeTime is how much longer than the present moment a code should hold.
const codeTime = 2 * time.Second

// FillCode implements browseagent.Logins.
func (k kept) FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name string) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	switch {
	case !e.HasTOTP:
		return nil, fmt.Errorf("the login %s makes no one-time codes", name)
	case k.consent == nil:
		return nil, errNobodyAsked
	}
	var origin string
	err = k.tab(ctx, s, func(tab *page.Tab) (err error) {
		origin, err = k.keeper.FillCode(ctx, tab, name, e.Origins, e.Digits, func(ctx context.Context, origin string) (string, error) {
			text := fmt.Sprintf("enter the one-time code of %s at %s", name, vault.ShowOrigin(origin))
			if err := k.consent(ctx, s, t, text, origin); err != nil {
				return "", err
			}
			secret, err := k.vault.Reveal(ctx, name, origin)
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
	return []string{"the code is filled in at " + vault.ShowOrigin(origin) + "; it is not sent yet"}, nil
}

// openVault opens the vault of the home. One that cannot be opened is said, and leaves the rest as it is.
func (a *app) openVault(ctx context.Context, e *env) {
	opts, err := vaultOptions(e, a.home)
	if err == nil {
		a.vault, err = vault.Open(ctx, opts)
	}
	if err != nil {
		a.logger.Warn("the vault cannot be used; \"clank vault status\" says more", "error", err)
	}
}

// vaultOptions say where the vault of a home and its key are.
func vaultOptions(e *env, h *home) (vault.Options, error) {
	opts := vault.Options{Path: h.path("vault.json"), KeyFile: h.path("vault.key"), Keyring: vault.SystemKeyring{}}
	if strings.EqualFold(e.getenv("CLANK_VAULT_KEYRING"), "off") {
		opts.Keyring = nil
	}
	return opts, readVaultKey(e, &opts)
}
