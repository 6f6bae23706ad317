package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/login"
	"clank/internal/settings"
	"clank/internal/vault"
	"clank/sessions"
)

// VaultLogins fills logins of the vault into the pages of the agent loop.
type VaultLogins struct {
	Vault   *vault.Vault
	Filler  *login.Filler
	Windows *browsermgr.Manager
}

// List implements browseagent.Logins.
func (k VaultLogins) List(ctx context.Context, t sessions.Task) ([]browseagent.Login, error) {
	entries, err := k.Vault.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var list []browseagent.Login
	for _, e := range entries {
		if mayUseLogin(e, t.Origin) {
			list = append(list, browseagent.Login{
				Name: e.Name, Origins: vault.DisplayOrigins(e.Origins), Username: e.Username,
				Code: e.HasTOTP,
			})
		}
	}
	return list, nil
}

// mayUseLogin reports whether the requester may use an entry: the operator all of them, other people those that name
// them or one of their roles.
func mayUseLogin(e vault.Entry, o sessions.Origin) bool {
	return o.Kind == sessions.FromTerminal || o.Kind == sessions.FromDashboard || e.Allows(o.User, o.Roles)
}

// findEntry finds an entry that the task may use.
func (k VaultLogins) findEntry(ctx context.Context, t sessions.Task, name string) (vault.Entry, error) {
	entries, err := k.Vault.Entries(ctx)
	if err != nil {
		return vault.Entry{}, err
	}
	for _, e := range entries {
		if e.Name == name && mayUseLogin(e, t.Origin) {
			return e, nil
		}
	}
	return vault.Entry{}, fmt.Errorf("%w: %s", vault.ErrNotFound, name)
}

// withTab calls do with the front tab of a session.
func (k VaultLogins) withTab(ctx context.Context, s sessions.Session, do func(*page.Tab) error) error {
	w, ok := k.Windows.Lookup(s.ID)
	if !ok {
		return errors.New("no page is open: open the one that asks for the login")
	}
	return w.WithTab(ctx, do)
}

// Where implements browseagent.Logins.
func (k VaultLogins) Where(ctx context.Context, s sessions.Session, t sessions.Task, name string,
	code bool,
) (origin, about string, err error) {
	e, err := k.findEntry(ctx, t, name)
	if err != nil {
		return "", "", err
	}
	digits := 0
	if code {
		if digits = e.Digits; !e.HasTOTP {
			return "", "", errNoCodes(name)
		}
	}
	err = k.withTab(ctx, s, func(tab *page.Tab) (err error) {
		origin, err = k.Filler.FindOrigin(ctx, tab, name, e.Origins, digits)
		return err
	})
	switch {
	case err != nil:
		return "", "", err
	case code:
		about = fmt.Sprintf("Enter the one-time code of the login %q at %s", name, vault.DisplayOrigin(origin))
	case e.Username == "":
		about = fmt.Sprintf("Log in at %s with the login %q", vault.DisplayOrigin(origin), name)
	default:
		about = fmt.Sprintf("Log in at %s as %q with the login %q", vault.DisplayOrigin(origin), e.Username, name)
	}
	return origin, about, nil
}

func errNoCodes(name string) error { return fmt.Errorf("the login %s makes no one-time codes", name) }

// ErrPageChanged means that the page is no longer the one that a person approved.
var ErrPageChanged = errors.New("the page has become another one since a person agreed: fill it in again")

// Fill implements browseagent.Logins.
func (k VaultLogins) Fill(ctx context.Context, s sessions.Session, t sessions.Task, name, at string,
	submit bool,
) (notes []string, err error) {
	e, err := k.findEntry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	agreed := false // the pages that follow the approved one belong to the same login
	var res login.FillResult
	err = k.withTab(ctx, s, func(tab *page.Tab) (err error) {
		res, err = k.Filler.Fill(ctx, tab, login.FillRequest{
			Name: name, Origins: e.Origins, Submit: submit,
			Reveal: func(ctx context.Context, origin string) (login.Secret, error) {
				if agreed = agreed || origin == at; !agreed {
					return nil, ErrPageChanged
				}
				return k.Vault.Reveal(ctx, name, origin)
			},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []string{describeFill(res)}, nil
}

// describeFill returns what was done and what remains to be done.
func describeFill(res login.FillResult) string {
	what := "password"
	switch {
	case res.Username && res.Password:
		what = "user name and password"
	case res.Username:
		what = "user name"
	}
	text := what + " filled in at " + vault.DisplayOrigin(res.Origin)
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

// codeMargin is how much longer a one-time code must remain valid.
const codeMargin = 2 * time.Second

// FillCode implements browseagent.Logins.
func (k VaultLogins) FillCode(ctx context.Context, s sessions.Session, t sessions.Task, name,
	at string,
) (notes []string, err error) {
	e, err := k.findEntry(ctx, t, name)
	if err != nil {
		return nil, err
	}
	if !e.HasTOTP {
		return nil, errNoCodes(name)
	}
	err = k.withTab(ctx, s, func(tab *page.Tab) error {
		_, err := k.Filler.FillCode(ctx, tab, name, e.Origins, e.Digits,
			func(ctx context.Context, origin string) (string, error) {
				if origin != at {
					return "", ErrPageChanged
				}
				secret, err := k.Vault.Reveal(ctx, name, origin)
				if err != nil {
					return "", err
				}
				return secret.Code(time.Now().Add(codeMargin)), nil
			})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []string{"the code is filled in at " + vault.DisplayOrigin(at) + "; it is not sent yet"}, nil
}

// openVault opens the vault of the home. If that fails it is logged and the rest works without.
func (a *Server) openVault(ctx context.Context) {
	v, err := OpenVault(ctx, a.getenv, a.Home)
	if err == nil {
		a.Vault = v
		var kept map[string]string
		kept, err = v.ServiceKeys(ctx)
		a.keys.set(kept)
	}
	if err == nil {
		var before []vault.Secret
		before, err = a.Vault.Revealed(ctx)
		for _, s := range before {
			a.LoginFiller.Remember(s.Origins(), s.Password())
		}
	}
	if err != nil {
		a.logger.Warn("the vault cannot be used; \"clank vault status\" says more", "error", err)
	}
}

// stateKeys returns the keys of the saved states of people's browsers.
func (a *Server) stateKeys(ctx context.Context) ([]string, error) {
	opts, err := VaultOptions(a.getenv, a.Home)
	if err != nil {
		return nil, err
	}
	return vault.StateKeys(ctx, opts)
}

// VaultOptions returns the paths of the home's vault and its key.
func VaultOptions(getenv func(string) string, h *Home) (vault.Options, error) {
	opts := vault.Options{Path: h.Path("vault.json"), KeyFile: h.Path("vault.key"), Keyring: vault.SystemKeyring{}}
	if strings.EqualFold(getenv("CLANK_VAULT_KEYRING"), "off") {
		opts.Keyring = nil
	}
	key, err := settings.ReadSecret("CLANK_VAULT_KEY", getenv)
	if err == nil && key.IsSet() {
		opts.Key, opts.KeySource = key.Reveal(), "CLANK_VAULT_KEY"
		if path := getenv("CLANK_VAULT_KEY_FILE"); path != "" {
			opts.KeySource = path + " (CLANK_VAULT_KEY_FILE)"
		}
	}
	return opts, err
}
