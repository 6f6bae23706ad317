package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/profile"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/internal/vault"
	"clank/llm/plain"
	"clank/sessions"
)

// isStranger reports whether somebody on Discord asks. Everybody else is the operator, who uses the terminal or the
// dashboard.
func isStranger(o sessions.Origin) bool { return o.Kind == sessions.FromDiscord }

// CheckAccess returns an error if the requester may not ask for anything.
func (a *Server) CheckAccess(o sessions.Origin) error {
	return checkRules(a.Settings.For(o.Guild), o)
}

// checkRules applies the operator's rules and those of the Discord server.
func checkRules(s settings.Settings, o sessions.Origin) error {
	if !isStranger(o) {
		return nil
	}
	if err := s.Access.Rules().Check(o); err != nil {
		return err
	}
	return s.Server.Check(o)
}

// AccessRefusal implements [CallAccess].
func (a *Server) AccessRefusal(o sessions.Origin) string {
	if err := a.CheckAccess(o); err != nil {
		return err.Error()
	}
	return ""
}

// isStop reports whether a message is nothing but "stop", addressed to clank by any of its names.
func (a *Server) isStop(message string) bool {
	return cancel.IsStopTo(a.Settings.Current().Voice.NameList(), message)
}

// checkOperatorOptions returns an error if a task uses options reserved for the operator: an arbitrary model, or a
// visible window.
func checkOperatorOptions(s settings.Settings, t sessions.Task) error {
	switch {
	case !isStranger(t.Origin) || s.Access.Rules().IsOperator(t.Origin):
		return nil
	case t.Headed:
		return errors.New("only an operator of this clank can have the browser's window shown; leave headed out")
	case t.Model != "" && !slices.Contains(choosableModels(s), t.Model):
		return fmt.Errorf("the model %s is not one to choose here; there are: %s", t.Model,
			strings.Join(choosableModels(s), ", "))
	}
	return nil
}

// choosableModels returns the models that everyone may choose in Discord, without duplicates, starting with the
// default.
func choosableModels(s settings.Settings) []string {
	own := strings.Fields(s.AgentModel)
	more := slices.Sorted(slices.Values(append(strings.Fields(s.Access.Models), plain.ModelName)))
	more = slices.DeleteFunc(slices.Compact(more), func(name string) bool { return slices.Contains(own, name) })
	return append(own, more...)
}

// DiscordChoices lists what people in Discord can choose. It implements [bot.Choices].
type DiscordChoices struct{ server *Server }

// Models implements [bot.Choices].
func (c DiscordChoices) Models() []string { return choosableModels(c.server.Settings.Current()) }

// Profiles implements [bot.Choices].
func (c DiscordChoices) Profiles(o sessions.Origin) []string {
	s := c.server.Settings.Current()
	return s.Access.Rules().ProfilesOf(o, s.Profile)
}

// Rights implements [CallAccess].
func (a *Server) Rights(ctx context.Context, o sessions.Origin) ([]string, error) {
	return rightsOf(ctx, a.Settings.For(o.Guild), a.Vault, o)
}

// rightsOf names the resources that the requester may use in public: a browser profile and logins of the vault.
func rightsOf(ctx context.Context, s settings.Settings, v *vault.Vault, o sessions.Origin) ([]string, error) {
	if err := checkRules(s, o); err != nil {
		return nil, err
	}
	name, err := resolveProfile(s, o, o.Place(false), "")
	if err != nil || v == nil {
		return []string{name}, err
	}
	logins, err := VaultLogins{Vault: v}.List(ctx, sessions.Task{Origin: o})
	rights := []string{name}
	for _, l := range logins {
		rights = append(rights, l.Name)
	}
	return rights, err
}

// resolveProfile selects the browser profile for a requester and a place.
func resolveProfile(s settings.Settings, o sessions.Origin, place sessions.Place, want string) (string, error) {
	switch {
	case isStranger(o):
		if shared := o.Place(false); place == shared && o.Guild != "" {
			own := shared.Of(o.User)
			if s.Server.Isolation == settings.IsolationPerson {
				place = own
			}
			if _, had := sessions.SplitProfile(want); had != place && (had == own || had == shared) {
				return "", errors.New("this server has changed whose browser is used; start a new session")
			}
		}
		return s.Access.Rules().Profile(o, place, want, s.Profile)
	case want != "":
		return want, nil
	}
	return place.Profile(s.Profile), nil
}

// SelectProfile is [resolveProfile] with the current settings. The user's own browser and remote browsers have a
// single state, so places cannot have separate profiles there.
func (a *Server) SelectProfile(o sessions.Origin, place sessions.Place, want string) (string, error) {
	s := a.Settings.For(o.Guild)
	name, err := resolveProfile(s, o, place, want)
	base, of := sessions.SplitProfile(name)
	switch {
	case err != nil:
	case of != "":
		err = a.Browsers.CheckInstance(name)
	case !isStranger(o) && name != s.Profile: // a mistyped name would be a new browser without logins
		if _, err = a.Browsers.FindProfile(base); errors.Is(err, profile.ErrNotFound) {
			err = fmt.Errorf("%w; \"clank browser create-profile --name %s\" and the dashboard's page Browsers make one", err,
				base)
		}
	}
	return name, err
}

// toolProfile selects the browser profile for a model that uses the browser tool on someone's behalf. If the settings
// define no persistent profile, it is configured like the default one: tabs of the tool outlive a call.
func toolProfile(s settings.Settings, o sessions.Origin, want string) (string, error) {
	if !isStranger(o) {
		return want, nil // the browser manager chooses the default
	}
	s.Profile = cmp.Or(s.Profile, profile.DefaultName)
	return resolveProfile(s, o, o.Place(o.Private), want)
}

// TerminalOrigin is the origin of requests from this terminal.
func TerminalOrigin() sessions.Origin {
	return sessions.Origin{Kind: sessions.FromTerminal, Channel: api.TerminalChannel, UserName: "you"}
}
