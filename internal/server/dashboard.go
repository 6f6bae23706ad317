package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/chrome"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/settings"
	"clank/sessions"
)

// OpenDashboard serves the dashboard on addr until the server closes.
func (a *Server) OpenDashboard(ctx context.Context, addr string) (*dashboard.Server, error) {
	s := &dashboard.Server{
		Addr:        addr,
		Tokens:      a.tokens,
		LocalSecret: a.LocalSecret,
		Version:     a.version,
		Discord:     discordFacts{a},
		Manager:     a.Sessions,
		Scopes:      &a.scopes,
		Questions:   a.Approver.Approvals,
		Settings:    a.Settings,
		Budgets:     a.budget,
		Inbox:       a.Inbox,
		Runs:        a.recorder,
		Films:       a.films,
		Watches:     a.Web.Watches,
		Call:        a.CallService.CallPage(),
		Browsers:    a.Browsers,
		Gate:        a.gate,
		Vault:       a.Vault,
		Scripts:     recording.ScriptStore{Dir: a.Home.ScriptsDir()},
		Transcripts: a.CallService,
		Live:        livePane{a},
		Accounts:    accounts{a},
		Assistant:   ChargedReplier{a.CallService.Assistant},
		Links:       a.CallService,
		Setup:       setup{a},
		Nodes:       nodePages{a},
		Tools:       taskTools{a},
		Telemetry:   a.telemetry,
		Host:        dashboardHost{a},
		Logger:      a.logger,

		UnfinishedFile: a.Home.Path(unfinishedFile),
	}
	if err := s.Open(ctx); err != nil {
		return nil, err
	}
	a.onClose(s.Close)
	at := s.URL()
	a.boardURL.Store(&at)
	if err := a.OwnListeners.AddURL(at); err != nil {
		return nil, err
	}
	file, err := a.Home.PublishAddress(s.URL(), a.LocalSecret)
	if err != nil {
		return nil, err
	}
	a.keepAnnounced(ctx, file)
	return s, nil
}

// dashboardHost connects the dashboard to its server; it implements [dashboard.Host].
type dashboardHost struct{ *Server }

// Ready implements [dashboard.Host].
func (a dashboardHost) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s := a.Settings.Current()
	_, err := a.Sessions.Sessions(ctx, sessions.SessionQuery{Limit: 1})
	if err = cmp.Or(err, a.Db.CheckWritable(ctx)); err != nil {
		if fault, ok := errors.AsType[*sessions.StoreError](err); ok {
			return errors.New(fault.Text) // its cause names the file, and whoever asks may be a stranger
		}
		return fmt.Errorf("the database does not answer: %w", err)
	}
	if !s.BrowserEnabled {
		return errors.New("the browser is disabled in the settings")
	}
	if _, err := chrome.Find(ctx, s.BrowserPath); err != nil {
		return err
	}
	return nil
}

// Weaknesses implements [dashboard.Host].
func (a dashboardHost) Weaknesses(ctx context.Context) []api.Weakness {
	s := a.Settings.Current()
	a.browserMu.Lock()
	if a.browserFound.Path == "" || a.browserWanted != s.BrowserPath { // finding a browser runs other programs
		a.browserFound, _ = chrome.Find(ctx, s.BrowserPath) // a missing browser is reported when one is started
		a.browserWanted = s.BrowserPath
	}
	program := a.browserFound.Path
	a.browserMu.Unlock()
	in := InspectInstallation(s, a.getenv, a.Home, program)
	in.ViewerAddr = a.CallService.ViewerAddr
	if found := a.damage.Load(); found != nil {
		in.Damage = *found
	}
	return in.Weaknesses()
}

// ModelAbility implements [dashboard.Host].
func (a dashboardHost) ModelAbility(runtime, model string) settings.ModelAbility {
	return a.models.Ability(runtime, model)
}

// HasSecret implements [dashboard.Host].
func (a dashboardHost) HasSecret(key string) bool { return SecretPresent(a.getenv, key) }

// IsStop implements [dashboard.Host].
func (a dashboardHost) IsStop(message string) bool { return a.isStop(message) }
