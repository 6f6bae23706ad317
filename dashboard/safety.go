package dashboard

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/internal/vault"
	"clank/sessions"
	"clank/sessions/access"
)

// safetyData is the data of the safety page.
type safetyData struct {
	Refusals     []api.RefusalView
	Logins       []vaultLogin
	VaultProblem string
	Tokens       []access.Token
	SignIns      []signIn
}

// vaultLogin is an entry of the vault as the page shows it.
type vaultLogin struct {
	vault.Entry

	For string // the sites that it is for
}

// signIn is a signed-in browser.
type signIn struct {
	access.Token

	Own bool // it is the browser that asks
}

func (s *Server) safetyPage(w http.ResponseWriter, r *http.Request) error {
	var data safetyData
	var err error
	if data.Refusals, err = s.refusals(r); err != nil {
		return err
	}
	if data.Tokens, err = s.Tokens.List(); err != nil {
		return failed("list the tokens", err)
	}
	ins, err := s.Tokens.SignIns()
	if err != nil {
		return failed("list who is signed in", err)
	}
	for _, t := range ins {
		data.SignIns = append(data.SignIns, signIn{t, t.Is(bearer(r))})
	}
	if s.Vault == nil {
		data.VaultProblem = "The vault cannot be opened; clank's log says why."
	} else {
		entries, err := s.Vault.Entries(r.Context())
		if err != nil {
			data.VaultProblem = "The vault cannot be read: " + err.Error()
		}
		for _, e := range entries {
			data.Logins = append(data.Logins, vaultLogin{e, strings.Join(vault.DisplayOrigins(e.Origins), ", ")})
		}
	}
	return s.page(w, r, "safety", pageData{Title: "Safety · clank", Data: data})
}

func (s *Server) listRefusals(w http.ResponseWriter, r *http.Request) error {
	list, err := s.refusals(r)
	return writeResult(w, http.StatusOK, "list what was refused", list, err)
}

// refusals returns the refused requests of pages, one per host, newest first. Details of requests of private tasks
// are shown only to the person who asked for the task.
func (s *Server) refusals(r *http.Request) ([]api.RefusalView, error) {
	ctx, reader := r.Context(), visitorOf(r)
	names, err := s.placeNames(ctx)
	if err != nil {
		return nil, err
	}
	list := []api.RefusalView{}
	at := map[string]int{}
	for _, rec := range s.Gate.AllRefusals() {
		v := api.RefusalView{
			At: rec.At, Count: 1, Rule: rec.Rule, Host: rec.Host, Address: rec.Address, URL: rec.URL, Text: rec.Text,
			Named: rec.Named,
		}
		_, place := sessions.SplitProfile(rec.Profile)
		v.Owner = names.of(place)
		key, _ := s.Browsers.TabOwner(rec.Tab)
		v.Private = profile.IsPersons(rec.Profile)
		if se, err := s.Manager.Session(ctx, key); err == nil {
			v.Session, v.Title = se.ID, cmp.Or(se.Title, "A session")
			v.Private = (v.Private || se.Origin.Private) && !reader.asked(se.Origin)
		}
		if v.Private {
			const text = "What was asked privately was refused an address."
			v = api.RefusalView{At: v.At, Count: 1, Text: text, Owner: v.Owner, Private: true}
		}
		id := strings.Join([]string{v.Rule, v.Host, v.Address, v.Owner}, " ")
		if i, known := at[id]; known {
			list[i].Count++
			continue
		}
		at[id] = len(list)
		if c, err := s.allowance(v); err == nil {
			v.Allowable, v.Allowed = true, c.holds
		}
		list = append(list, v)
	}
	return list, nil
}

// allowance is a change of a setting that lets pages reach a refused host.
type allowance struct {
	key    string
	with   []string // entries of the list with the host
	before []string // entries without it
	holds  bool     // the change is already made
}

const networkPolicyKeys = "agentStack.runtimeConfig.browser.ssrfPolicy."

var errNotAllowable = errors.New("no single entry of the settings allows it")

// allowance returns the change that lifts a refusal, or errNotAllowable: cloud metadata and clank's own addresses
// cannot be allowed by a click.
func (s *Server) allowance(v api.RefusalView) (allowance, error) {
	reach := s.Settings.Current().NetworkAccess
	add := func(key, list, entry string) (allowance, error) {
		without := settings.SplitHosts(list)
		holds := slices.Contains(without, entry)
		without = slices.DeleteFunc(without, func(e string) bool { return e == entry })
		return allowance{key, append(slices.Clone(without), entry), without, holds}, nil
	}
	switch v.Rule {
	case policy.RuleNotOnList:
		return add("hostnameAllowlist", reach.HostAllowlist, v.Host)
	case policy.RulePort:
		if at, err := url.Parse(v.URL); err == nil && at.Port() != "" {
			return add("allowedHostnames", reach.AllowedHosts, net.JoinHostPort(v.Host, at.Port()))
		}
	case policy.RulePrivate, policy.RuleLocalName, policy.RuleStrict, egress.RuleNotApproved:
		entry := v.Host
		if v.Named { // the name is listed, but needs the address as well
			entry = v.Address
		}
		return add("allowedHostnames", reach.AllowedHosts, entry)
	case policy.RuleBlocked:
		c, err := add("blockedHostnames", reach.BlockedHosts, v.Host)
		c.with, c.before, c.holds = c.before, c.with, !c.holds
		return c, err
	}
	return allowance{}, errNotAllowable
}

// allowRefused lets pages reach a refused host, or refuses it again.
func (s *Server) allowRefused(w http.ResponseWriter, r *http.Request) error {
	var in api.Allowance
	if err := readJSON(r, &in); err != nil {
		return err
	}
	list, err := s.refusals(r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(v api.RefusalView) bool {
		return !v.Private && v.Rule == in.Rule && v.Host == in.Host && v.Address == in.Address
	})
	if i < 0 {
		return refuse(http.StatusNotFound, "nothing of the kind was refused lately")
	}
	c, err := s.allowance(list[i])
	if err != nil {
		return refuse(http.StatusConflict, "%v: %s", err, list[i].Text)
	}
	entries := c.with
	if in.Undo {
		entries = c.before
	}
	value, err := json.Marshal(strings.Join(entries, "\n"))
	if err != nil {
		return failed("change the settings", err)
	}
	changes := map[string]json.RawMessage{networkPolicyKeys + c.key: value}
	_, _, err = s.Settings.Update(r.Context(), changes, s.Settings.State().Version)
	if invalid, ok := errors.AsType[*settings.InvalidError](err); ok {
		return refuse(http.StatusUnprocessableEntity, "%v", invalid)
	}
	return writeDone(w, "change the settings", err)
}

// removeToken revokes an access token.
func (s *Server) removeToken(w http.ResponseWriter, r *http.Request) error {
	var in api.NewName
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return writeDone(w, "remove the token", s.Tokens.Remove(in.Name))
}
