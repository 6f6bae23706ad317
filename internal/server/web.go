package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"clank/bot"
	"clank/browsermgr"
	"clank/internal/assistant"
	"clank/internal/settings"
	"clank/internal/watches"
	"clank/internal/web"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// readerProxyProfile is the proxy profile of readers. No browser profile can have a space in its name.
const readerProxyProfile = "page reader"

// WebServices read and search the web without a browser, and watch pages, which seldom needs one.
type WebServices struct {
	Reader   *web.Reader
	searcher *web.Searcher
	Watches  *watches.Runner
	bot      atomic.Pointer[bot.Bot] // nil until connected
	discord  atomic.Pointer[string]  // status of the Discord connection; nil before it is known
	newToken chan struct{}           // signals that a token for Discord was stored
}

// OpenWeb prepares the services. Watched pages are not checked before [Server.RunWatches].
func (a *Server) OpenWeb() *WebServices {
	w := &WebServices{Reader: web.NewReader(a.gate, readerProxyProfile), newToken: make(chan struct{}, 1)}
	w.searcher = &web.Searcher{
		Engine: func() web.SearchEngine { return SearchEngine(a.Settings.Current().Web, a.getenv) },
		PerHour: func() (person, server int) {
			l := a.Settings.Current().Web.SearchesPerHour
			return l.User, l.Guild
		},
		Logger: a.logger,
	}
	w.Watches = &watches.Runner{
		Store: a.Db, Host: watchHost{a, w}, Logger: a.logger,
		KeepFor: func() time.Duration { return a.sessionLimits().KeepFor },
	}
	a.onClose(func(context.Context) error { w.Reader.Close(); return nil })
	return w
}

// RunWatches checks watched pages until the server closes.
func (a *Server) RunWatches(ctx context.Context, w *WebServices) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Watches.Run(ctx) // Run only returns the cause of its end
	}()
	a.onClose(func(closing context.Context) error {
		stop(errors.New("clank is ending"))
		select {
		case <-done:
			return nil
		case <-closing.Done():
			return fmt.Errorf("wait for the watches: %w", context.Cause(closing))
		}
	})
}

// AssistantWeb returns the web tools of the assistant.
func (w *WebServices) AssistantWeb() assistant.WebTools {
	return assistant.WebTools{Reader: w.Reader, Searcher: w.searcher, Watches: w.Watches}
}

// SearchEngine returns the configured search engine, nil if it is not set up.
func SearchEngine(s settings.Web, getenv func(string) string) web.SearchEngine {
	key := func(name string) string {
		v, err := settings.ReadSecret(name, getenv)
		if err != nil {
			return ""
		}
		return v.Reveal()
	}
	may := func(engine string) bool { return s.SearchEngine == settings.SearchAny || s.SearchEngine == engine }
	if k := key("BRAVE_API_KEY"); k != "" && may(settings.SearchBrave) {
		return &web.Brave{Key: k}
	}
	if k := key("SERPAPI_API_KEY"); k != "" && may(settings.SearchSerpAPI) {
		return &web.SerpAPI{Key: k}
	}
	if s.SearXNG != "" && may(settings.SearchSearXNG) {
		return &web.SearXNG{URL: s.SearXNG}
	}
	return nil
}

// watchHost connects watches to the rest of the program. It implements [watches.Host].
type watchHost struct {
	server *Server
	web    *WebServices
}

// Limits implements [watches.Host].
func (h watchHost) Limits() watches.Limits {
	s := h.server.Settings.Current().Web
	return watches.Limits{PerOwner: s.WatchesPerPerson, MinInterval: s.MinWatchInterval}
}

// Read implements [watches.Host].
func (h watchHost) Read(ctx context.Context, x watches.Watch) (watches.Reading, error) {
	p, err := h.web.Reader.Read(ctx, web.ReadRequest{URL: x.URL, MaxChars: web.MaxPageChars, WholePage: true})
	if errors.Is(err, web.ErrNeedsBrowser) {
		err = fmt.Errorf("%w: %w", watches.ErrNeedsBrowser, err)
	}
	return watches.Reading{URL: p.URL, Title: p.Title, Text: p.Text}, err
}

// Timing for pages that scripts render.
const (
	renderTimeout      = 15 * time.Second
	renderPollInterval = 500 * time.Millisecond
)

// Browse implements [watches.Host] with a window of its own that has no cookies.
func (h watchHost) Browse(ctx context.Context, x watches.Watch) (_ watches.Reading, err error) {
	a := h.server
	s := a.Settings.Current()
	if !s.Web.WatchBrowser || !s.BrowserEnabled {
		return watches.Reading{}, fmt.Errorf("%w, and the settings do not watch with one", watches.ErrNeedsBrowser)
	}
	win, _, err := a.Browsers.Window(ctx, browsermgr.WindowOptions{Key: "watch-" + x.ID, Ephemeral: true})
	if err != nil {
		return watches.Reading{}, err
	}
	defer func() {
		rest, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer done()
		err = errors.Join(err, win.Close(rest))
	}()
	if _, err := win.Act(ctx, "navigate", map[string]any{"url": x.URL}); err != nil {
		return watches.Reading{}, err
	}
	text, err := WaitForStableText(ctx, win)
	if err != nil {
		return watches.Reading{}, err
	}
	url, title, _, err := win.State(ctx)
	return watches.Reading{URL: url, Title: title, Text: text}, err
}

// WaitForStableText returns the text of a page once it has stopped changing, or after renderTimeout.
func WaitForStableText(ctx context.Context, win interface {
	MainFrameText(ctx context.Context) (string, error)
},
) (string, error) {
	tick := time.Tick(renderPollInterval)
	last := ""
	for begun := time.Now(); ; {
		text, err := win.MainFrameText(ctx)
		if err != nil {
			return "", err
		}
		if text = strings.TrimSpace(text); text != "" && text == last || time.Since(begun) > renderTimeout {
			return text, nil
		}
		last = text
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick:
		}
	}
}

// CheckAllowed implements [watches.Host]. It checks the access rules again for the owner and channel, because rules,
// roles and memberships change. While Discord is not connected, a watch continues if the rules allow its owner
// regardless of roles.
func (h watchHost) CheckAllowed(ctx context.Context, x watches.Watch) error {
	a, b := h.server, h.web.bot.Load()
	if x.Origin.Kind != sessions.FromDiscord || b == nil {
		return a.CheckAccess(x.Origin)
	}
	now, err := b.RefreshOrigin(ctx, x.Origin)
	if errors.Is(err, bot.ErrLeftGuild) {
		return err
	}
	return a.CheckAccess(now)
}

// Judge implements [watches.Host], on the account of the watch's owner.
func (h watchHost) Judge(ctx context.Context, x watches.Watch, q watches.JudgeQuestion) (watches.Verdict, error) {
	return (&watches.ModelJudge{Model: h.server.assistantModel}).Ask(
		llm.WithAccount(ctx, agent.PersonAccount(x.Origin, "watch")), x, q)
}

// Notify implements [watches.Host]. It notifies owners on Discord; others see the result with the watch, on the
// dashboard and in the terminal.
func (h watchHost) Notify(ctx context.Context, x watches.Watch, n watches.Notice) error {
	if x.Origin.Kind != sessions.FromDiscord {
		return nil
	}
	b := h.web.bot.Load()
	if b == nil {
		return errors.New("clank is not connected to Discord")
	}
	return b.NotifyWatch(ctx, x, n)
}
