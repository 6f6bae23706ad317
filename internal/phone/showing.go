package phone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"clank/bot/markup"
	"clank/sessions"
	"clank/sharing"
	"clank/sharing/viewer"
	"clank/voice/rtc"
	"clank/voice/webcall"
)

// openSharing prepares what shows a browser to people, and serves the viewer's page.
func (x *Exchange) openSharing(ctx context.Context) error {
	x.links.Lifetime = x.Settings().Share.LinkLife
	x.shares = &sharing.Manager{
		Sessions: x.Sessions, Screen: x.Screen, Stages: x.stages, May: x.mayShow, Tell: x.tell, Logger: x.Logger,
	}
	x.onClose(x.shares.Close)
	x.viewer = &viewer.Viewer{Links: x, Engine: x.engine, Logger: x.Logger}
	if err := x.viewer.Open(); err != nil { // it only reads its own files
		return err
	}
	x.onClose(x.viewer.Close)
	return x.serveViewer(ctx)
}

// serveViewer listens on the viewer's address, or on any free port of the machine itself if that is taken.
func (x *Exchange) serveViewer(ctx context.Context) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", x.WatchAddr)
	if errors.Is(err, syscall.EADDRINUSE) {
		x.Logger.Warn("address of the viewer's page is taken; using another", "address", x.WatchAddr, "error", err)
		ln, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("serve the viewer's page: %w", err)
	}
	x.watchAt = "http://" + ln.Addr().String() + "/"
	x.watch = &http.Server{ // strangers come here: none of them may hold a connection without using it
		Handler: x.viewer.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := x.watch.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			x.Logger.Error("viewer's page ended", "error", err)
		}
	}()
	x.onClose(func(context.Context) error {
		err := x.watch.Close()
		<-done
		return err
	})
	return nil
}

// ViewerURL is where the viewer's page is reached from this machine.
func (x *Exchange) ViewerURL() string { return x.watchAt }

// link is the address of a share for people.
func (x *Exchange) link(token string) string {
	base := x.Settings().Share.PublicURL
	if base == "" {
		base = x.watchAt
	}
	return viewer.Link(base, token)
}

// Check implements [viewer.Links].
func (x *Exchange) Check(token string) (viewer.Share, error) {
	id, until, err := x.links.Check(token)
	if err != nil {
		return viewer.Share{}, err
	}
	w, ok := x.shares.Watch(id)
	if !ok {
		return viewer.Share{}, sharing.ErrLinkRevoked
	}
	return viewer.Share{
		ID: w.ID, Until: until, Done: w.Done, Watch: func() rtc.Frames { return w.Source.Subscribe() },
	}, nil
}

// stages are the ways to show something to a call, the best first.
func (x *Exchange) stages(c sharing.Call) []sharing.Stage {
	link := &sharing.LinkStage{Links: &x.links, Address: x.link}
	if c == pageCall {
		return []sharing.Stage{pageStage{x}, link}
	}
	if x.live.wanted {
		return []sharing.Stage{&liveStage{live: &x.live}, link}
	}
	return []sharing.Stage{link}
}

// mayShow says why a session may not be shown, or not any more: whoever wants it was shut out, or its owner may not use its browser
// profile now.
func (x *Exchange) mayShow(by sessions.Origin, s sessions.Session) error {
	if x.Sessions.Enter != nil {
		if err := x.Sessions.Enter(by); err != nil {
			return err
		}
	}
	if x.Sessions.Profile == nil || s.Profile == "" {
		return nil
	}
	_, err := x.Sessions.Profile(s.Origin, s.Profile)
	return err
}

// pageStage shows a share on the call page.
type pageStage struct{ x *Exchange }

// Name implements [sharing.Stage].
func (pageStage) Name() string { return "the call page" }

// Begin implements [sharing.Stage].
func (p pageStage) Begin(_ context.Context, s sharing.Show) (sharing.Place, error) {
	c := p.x.host.Current()
	if c == nil {
		return sharing.Place{}, errors.New("nobody is on the call page")
	}
	c.Show(s.Session.Title, func() rtc.Frames { return s.Source.Subscribe() })
	return sharing.Place{Text: "You see it on this page."}, nil
}

// End implements [sharing.Stage].
func (p pageStage) End(context.Context, sharing.Show) error {
	if c := p.x.host.Current(); c != nil {
		c.Unshow()
	}
	return nil
}

// tell lets the people of a call know what becomes of a share.
func (x *Exchange) tell(n sharing.Notice) {
	if n.Call == pageCall {
		if c := x.host.Current(); c != nil {
			c.Write(webcall.Note{Kind: webcall.Chat, Text: withLink(n.Text, n.Link)})
		}
		return
	}
	b := x.bot.Load()
	if b == nil {
		return
	}
	text := withLink(markup.Plain(n.Text, maxNews), n.Link) // names are in it, and what servers say
	x.work.Go(func() {
		if err := (*b).Post(x.life, n.Call.Channel, text, nil); err != nil {
			x.Logger.Warn("news of a share not told", "channel", n.Call.Channel, "error", err)
		}
	})
}

const maxNews = 1000 // characters of news of a share

func withLink(text, link string) string {
	if link == "" {
		return text
	}
	return text + "\n" + link
}
