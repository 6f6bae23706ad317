package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/control"
	"clank/browsermgr/control/client"
	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/access"
)

// controlAddress returns the default listen address of the control API. Scripts that know the port of a gateway
// expect it two above that.
func controlAddress(getenv func(string) string) string {
	if port, err := strconv.Atoi(getenv("OPENCLAW_GATEWAY_PORT")); err == nil && port > 0 && port < 65534 {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port+2))
	}
	return control.DefaultAddr
}

// OpenControl serves the control API and announces its address to commands of the same user. If its usual port is
// taken, it uses any: the commands find it through the announcement.
func (a *Server) OpenControl(ctx context.Context, addr string) (*control.Server, error) {
	secrets, err := a.controlSecrets()
	if err != nil {
		return nil, err
	}
	s := &control.Server{
		Manager: a.Browsers, Features: a.features, Policy: a.gate, Addr: addr, Secrets: secrets, Version: a.version,
		Logger:   a.logger,
		Settings: browserSettings{a.Settings}, Approver: ToolApprover{Approver: a.Approver, Downloads: a.downloads},
	}
	s.Addr = cmp.Or(s.Addr, controlAddress(a.getenv))
	err = s.Open(ctx)
	if addr == "" && address.Taken(err) {
		a.logger.Warn("the port of the control API is taken: it listens on another", "address", s.Addr)
		s.Addr = "127.0.0.1:0"
		err = s.Open(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.onClose(s.Close)
	if err := a.OwnListeners.AddURL(s.URL()); err != nil {
		return nil, err
	}
	file, err := client.Announce(a.Home.Dir, s.URL(), a.LocalSecret)
	if err != nil {
		return nil, err
	}
	a.keepAnnounced(ctx, file)
	a.Tools = NewBrowserTools(a.StateDir, s.URL(), a.LocalSecret)
	a.Tools.Settings, a.Tools.Getenv, a.Tools.Callers = a.Settings, a.getenv, &a.Approver.Callers
	a.onClose(a.Tools.Close)
	return s, nil
}

// browserSettings are the settings of browser requests. It implements [control.Settings] and [browsertool.Settings].
type browserSettings struct{ SettingsSource }

// EvaluateEnabled implements [control.Settings].
func (s browserSettings) EvaluateEnabled() bool { return s.Current().Browser.EvaluateEnabled }

// ActionTimeout implements [control.Settings].
func (s browserSettings) ActionTimeout() time.Duration { return s.Current().Browser.ActionTimeout }

// ApprovalWait implements [browsertool.Settings].
func (s browserSettings) ApprovalWait() time.Duration {
	return maxQuestionsPerCall * s.Current().Approval.Wait
}

// SnapshotMode implements [control.Settings].
func (s browserSettings) SnapshotMode() string { return s.Current().Browser.SnapshotMode }

// announceInterval is how often a removed or damaged announcement is restored.
const announceInterval = 2 * time.Second

// keepAnnounced restores an announcement until the server closes.
func (a *Server) keepAnnounced(ctx context.Context, file *client.AnnouncementFile) {
	a.onClose(func(context.Context) error { return file.Remove() })
	a.inBackground(ctx, func(life context.Context) {
		tick := time.Tick(announceInterval)
		for {
			select {
			case <-life.Done():
				return
			case <-tick:
			}
			if err := file.Restore(); err != nil {
				a.logger.Debug("an announcement is not restored", "error", err)
			}
		}
	})
}

// controlSecrets returns the token and password of the environment, the secret of this run, and the access tokens.
func (a *Server) controlSecrets() (control.Secrets, error) {
	var s control.Secrets
	for _, name := range []string{"CLANK_BROWSER_TOKEN", "OPENCLAW_GATEWAY_TOKEN"} {
		v, err := settings.ReadSecret(name, a.getenv)
		if err != nil {
			return s, err
		}
		if s.Token == "" && v.IsSet() {
			s.Token = v.Reveal()
		}
	}
	v, err := settings.ReadSecret("OPENCLAW_GATEWAY_PASSWORD", a.getenv)
	if err != nil {
		return s, err
	}
	s.Password = v.Reveal()
	s.Issued = func(secret string) bool {
		return access.IsSecret(secret, a.LocalSecret) || a.tokens.Valid(secret, access.ScopeControl)
	}
	return s, nil
}

// checkRename returns an error if a profile cannot be renamed now: the settings share it, or sessions use it.
func (a *Server) checkRename(ctx context.Context, name string) error {
	at := a.Settings.Current()
	named := strings.FieldsFunc(at.Access.Profiles+" "+at.BrowserTool.NodeProfiles, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
	if slices.Contains(named, name) {
		return fmt.Errorf("the settings share the profile %q: take it from there first", name)
	}
	open := []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked}
	list, err := a.Sessions.Sessions(ctx, sessions.SessionQuery{States: open, Limit: 10_000})
	if err != nil {
		return fmt.Errorf("look for its sessions: %w", err)
	}
	using := 0
	for _, s := range list {
		if base, _ := sessions.SplitProfile(s.Profile); base == name {
			using++
		}
	}
	if using > 0 {
		return fmt.Errorf("%d open sessions use the profile %q: close them first", using, name)
	}
	return nil
}
