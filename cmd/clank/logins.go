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
	"clank/internal/command"
	"clank/internal/home"
	"clank/sessions"
	"clank/vault"
)

// kept lets the agent loop have logins of the vault filled into its pages.
type kept struct {
	vault   *vault.Vault
	keeper  *login.Keeper
	windows *browsermgr.Manager
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

// Where implements browseagent.Logins.
func (k kept) Where(ctx context.Context, s sessions.Session, t sessions.Task, name string, code bool) (origin, about string, err error) {
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
		origin, err = k.keeper.Where(ctx, tab, name, e.Origins, digits)
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

// errElsewhere says that the page is not that any more which a person was asked about.
var errElsewhere = errors.New("the page has become another one since a person agreed: fill it in again")

// Fill implements browseagent.Logins.
func (k kept) Fill(ctx context.Context, s sessions.Session, t sessions.Task, name, at string) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	agreed := at == "" // what comes after the page that was asked about belongs to the same login
	var res login.Result
	err = k.tab(ctx, s, func(tab *page.Tab) (err error) {
		res, err = k.keeper.Fill(ctx, tab, login.Request{Name: name, Origins: e.Origins, Submit: at != "", Reveal: func(ctx context.Context, origin string) (login.Secret, error) {
			if agreed = agreed || origin == at; !agreed {
				return nil, errElsewhere
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

// codeTime is how much longer than the present moment a code should hold.
const codeTime = 2 * time.Second

// FillCode implements browseagent.Logins.
func (k kept) FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name, at string) (notes []string, err error) {
	e, err := k.entry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	if !e.HasTOTP {
		return nil, noCodes(name)
	}
	err = k.tab(ctx, s, func(tab *page.Tab) error {
		_, err := k.keeper.FillCode(ctx, tab, name, e.Origins, e.Digits, func(ctx context.Context, origin string) (string, error) {
			if origin != at {
				return "", errElsewhere
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
	return []string{"the code is filled in at " + vault.ShowOrigin(at) + "; it is not sent yet"}, nil
}

// openVault opens the vault of the home. One that cannot be opened is said, and leaves the rest as it is.
func (a *app) openVault(ctx context.Context, e *command.Env) {
	opts, err := vaultOptions(e, a.home)
	if err == nil {
		a.vault, err = vault.Open(ctx, opts)
	}
	if err != nil {
		a.logger.Warn("the vault cannot be used; \"clank vault status\" says more", "error", err)
	}
}

// vaultOptions say where the vault of a home and its key are.
func vaultOptions(e *command.Env, h *home.Home) (vault.Options, error) {
	opts := vault.Options{Path: h.Path("vault.json"), KeyFile: h.Path("vault.key"), Keyring: vault.SystemKeyring{}}
	if strings.EqualFold(e.Getenv("CLANK_VAULT_KEYRING"), "off") {
		opts.Keyring = nil
	}
	return opts, readVaultKey(e, &opts)
}
