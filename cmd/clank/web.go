package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"clank/bot"
	"clank/brain"
	"clank/browsermgr"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
	"clank/settings"
	"clank/watches"
	"clank/watches/judge"
	"clank/webread"
	"clank/websearch"
)

// readerProfile is whose listener of the checking proxy readers use. No browser's profile can have a space in its name.
const readerProfile = "page reader"

// web is what needs no browser: reading and searching, and the watches, which need one seldom.
type web struct {
	reader   *webread.Reader
	searcher *websearch.Searcher
	watches  *watches.Runner
	bot      atomic.Pointer[bot.Bot] // nil until it is connected
}

// openWeb makes the parts ready. No page is looked at by itself before [app.watch].
func (a *app) openWeb() *web {
	w := &web{reader: webread.Through(a.gate, readerProfile)}
	w.searcher = &websearch.Searcher{
		Engine:  func() websearch.Engine { return searchEngine(a.settings.Now().Web, a.getenv) },
		PerHour: func() int { return a.settings.Now().Web.SearchesPerHour },
		Logger:  a.logger,
	}
	w.watches = &watches.Runner{
		Store: a.db, Read: w.read, Browse: a.readWithBrowser, Judge: a.judgeWatch, Tell: w.tell,
		May: func(ctx context.Context, x watches.Watch) error { return a.mayWatch(ctx, w.bot.Load(), x) },
		Limits: func() watches.Limits {
			s := a.settings.Now().Web
			return watches.Limits{PerOwner: s.WatchesPer, Least: s.WatchEvery}
		},
		Logger: a.logger,
	}
	a.onClose(func(context.Context) error { w.reader.Close(); return nil })
	return w
}

// watch looks at watched pages until the program ends.
func (a *app) watch(ctx context.Context, w *web) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.watches.Run(ctx) // its error is why we stopped it
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

// brain is what the text brain gets of it.
func (w *web) brain() brain.Web {
	return brain.Web{Reader: w.reader, Searcher: w.searcher, Watches: w.watches}
}

// searchEngine is the engine that the settings choose, nil if it is not set up.
func searchEngine(s settings.Web, getenv func(string) string) websearch.Engine {
	key := func(name string) string {
		v, err := settings.ReadSecret(name, getenv)
		if err != nil {
			return ""
		}
		return v.Reveal()
	}
	may := func(engine string) bool { return s.SearchEngine == settings.SearchAny || s.SearchEngine == engine }
	if k := key("BRAVE_API_KEY"); k != "" && may(settings.SearchBrave) {
		return &websearch.Brave{Key: k}
	}
	if k := key("SERPAPI_API_KEY"); k != "" && may(settings.SearchSerpAPI) {
		return &websearch.SerpAPI{Key: k}
	}
	if s.SearXNG != "" && may(settings.SearchSearXNG) {
		return &websearch.SearXNG{URL: s.SearXNG}
	}
	return nil
}

// read reads a watched page without a browser.
func (w *web) read(ctx context.Context, x watches.Watch) (watches.Look, error) {
	p, err := w.reader.Read(ctx, webread.Request{URL: x.URL, MaxChars: webread.MostChars, Whole: true})
	if errors.Is(err, webread.ErrNeedsBrowser) {
		err = fmt.Errorf("%w: %w", watches.ErrNeedsBrowser, err)
	}
	return watches.Look{URL: p.URL, Title: p.Title, Text: p.Text}, err
}

// Times of reading a page that its scripts draw.
const (
	drawTime  = 15 * time.Second
	drawPause = 500 * time.Millisecond
)

// readWithBrowser reads a watched page in a window of its own, without anybody's cookies.
func (a *app) readWithBrowser(ctx context.Context, x watches.Watch) (_ watches.Look, err error) {
	s := a.settings.Now()
	if !s.Web.WatchBrowser || !s.BrowserEnabled {
		return watches.Look{}, fmt.Errorf("%w, and the settings do not watch with one", watches.ErrNeedsBrowser)
	}
	win, _, err := a.browsers.Window(ctx, browsermgr.WindowOptions{Key: "watch-" + x.ID, Ephemeral: true})
	if err != nil {
		return watches.Look{}, err
	}
	defer func() {
		rest, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer done()
		err = errors.Join(err, win.Close(rest))
	}()
	if _, err := win.Act(ctx, "navigate", map[string]any{"url": x.URL}); err != nil {
		return watches.Look{}, err
	}
	text, err := drawn(ctx, win)
	if err != nil {
		return watches.Look{}, err
	}
	url, title, _, err := win.State(ctx)
	return watches.Look{URL: url, Title: title, Text: text}, err
}

// drawn waits until a page has text that does not change any more, for a while.
func drawn(ctx context.Context, win interface {
	OwnText(ctx context.Context) (string, error)
},
) (string, error) {
	tick := time.NewTicker(drawPause)
	defer tick.Stop()
	last := ""
	for begun := time.Now(); ; {
		text, err := win.OwnText(ctx)
		if err != nil {
			return "", err
		}
		if text = strings.TrimSpace(text); text != "" && text == last || time.Since(begun) > drawTime {
			return text, nil
		}
		last = text
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// mayWatch asks the rules of access again, for who wants to be told and where: rules, roles and members change while a
// watch goes on. b is nil while there is no connection; those whom the rules let in whatever their roles go on meanwhile.
func (a *app) mayWatch(ctx context.Context, b *bot.Bot, x watches.Watch) error {
	if x.Origin.Kind != sessions.FromDiscord || b == nil {
		return a.mayEnter(x.Origin)
	}
	now, err := b.Today(ctx, x.Origin)
	if errors.Is(err, bot.ErrGone) {
		return err
	}
	return a.mayEnter(now)
}

// judgeWatch asks the brain's model, on the account of the watch's owner.
func (a *app) judgeWatch(ctx context.Context, x watches.Watch, q watches.Question) (watches.Verdict, error) {
	ctx = llm.WithAccount(ctx, llm.Account{
		Guild: x.Origin.Guild, Channel: x.Origin.Channel, User: working.Person(x.Origin), Purpose: "watch",
	})
	return (&judge.Judge{Model: a.brainModel}).Ask(ctx, x, q)
}

// tell tells the owner of a watch at Discord. Others find it with the watch, on the page and in the terminal.
func (w *web) tell(ctx context.Context, x watches.Watch, n watches.Notice) error {
	if x.Origin.Kind != sessions.FromDiscord {
		return nil
	}
	b := w.bot.Load()
	if b == nil {
		return errors.New("clank is not connected to Discord")
	}
	return b.TellWatch(ctx, x, n)
}
