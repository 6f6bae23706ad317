package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"slices"
	"time"

	"clank/bot/discord"
	"clank/browsermgr/address"
	"clank/sessions"
	"clank/videosource"
	"clank/voice"
	"clank/voice/share"
	"clank/voice/speech/playout"
	"clank/voice/webrtc"
)

// openSharing prepares shares and serves the viewer's page.
func (x *CallService) openSharing(ctx context.Context) error {
	x.fileLinks.Base, x.fileLinks.Logger = func() string { return x.Settings.Current().Share.PublicURL }, x.Logger
	x.shareLinks.Lifetime = func() time.Duration { return x.Settings.Current().Share.LinkLifetime }
	x.shares = &share.Manager{Sessions: x.Sessions, Host: shareHost{x}, Links: &x.shareLinks, Logger: x.Logger}
	x.shares.NewSource = func() *videosource.Source { return &videosource.Source{OpenEncoder: x.Browsers.OpenEncoder} }
	x.onClose(x.shares.Close)
	x.viewerPage = &share.ViewerPage{Links: x, Engine: x.webrtcEngine, Logger: x.Logger}
	if x.Live != nil {
		x.viewerPage.Work = x.serveGuest
	}
	x.viewerPage.SignIn = x
	if err := x.viewerPage.Open(); err != nil { // it only reads embedded files
		return err
	}
	x.onClose(x.viewerPage.Close)
	if err := x.openActivity(); err != nil { // it only reads embedded files
		return err
	}
	return x.serveViewer(ctx)
}

// serveViewer listens on the viewer's address, or on a free loopback port if that is taken.
func (x *CallService) serveViewer(ctx context.Context) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", x.ViewerAddr)
	if address.Taken(err) {
		x.Logger.Warn("address of the viewer's page is taken; using another", "address", x.ViewerAddr, "error", err)
		ln, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("serve the viewer's page: %w", err)
	}
	x.viewerURL = "http://" + ln.Addr().String() + "/"
	site := http.NewServeMux()
	site.Handle("/", x.viewerPage.Handler())
	site.Handle("/activity/", http.StripPrefix("/activity", x.serveActivity()))
	site.Handle(fileLinkPrefix, &x.fileLinks)
	server := &http.Server{ // exposed to strangers: short timeouts limit idle connections
		Handler: site, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	x.onClose(serveInBackground(server, func() error { return server.Serve(ln) }, func(err error) {
		x.Logger.Error("viewer's page ended", "error", err)
	}))
	return nil
}

// ViewerURL returns the local address of the viewer's page.
func (x *CallService) ViewerURL() string { return x.viewerURL }

// viewerLink returns the public address of a share.
func (x *CallService) viewerLink(token string) string {
	return share.ViewerLink(x.viewerBase(), token)
}

// viewerBase returns the public base address of the viewer's page.
func (x *CallService) viewerBase() string {
	return cmp.Or(x.Settings.Current().Share.PublicURL, x.viewerURL)
}

// CheckLink implements [share.LinkChecker].
func (x *CallService) CheckLink(token, browser string) (share.ViewerShare, error) {
	link, err := x.shareLinks.Check(token, browser)
	if err != nil {
		return share.ViewerShare{}, err
	}
	w, ok := x.shares.Watch(link.Share)
	if !ok {
		return share.ViewerShare{}, share.ErrLinkRevoked
	}
	return share.ViewerShare{
		ID: w.ID, Link: link.ID, Session: link.Session, Control: link.Control, Name: link.Name,
		Until: link.Until, Done: link.Done,
		Watch: func(f videosource.Format) webrtc.FrameSource { return w.Source.SubscribeTo(f) },
	}, nil
}

// shareHost connects shares to the rest of the program.
type shareHost struct{ *CallService }

// ShareTargets implements [share.Host].
func (x shareHost) ShareTargets(c share.CallRef) []share.Target {
	link := &share.LinkTarget{Links: &x.shareLinks, Address: x.viewerLink}
	if c == pageCallRef {
		return []share.Target{pageTarget{x.CallService}, link}
	}
	if x.goLive.wanted {
		return []share.Target{&goLiveTarget{account: &x.goLive}, link}
	}
	return []share.Target{link}
}

// CheckShare implements [share.Host]: the requester may have been banned, or the session's owner may no longer use
// its profile.
func (x shareHost) CheckShare(by sessions.Origin, s sessions.Session) error {
	policy := x.Sessions.Policy
	if err := policy.CheckAccess(by); err != nil || s.Profile == "" {
		return err
	}
	_, owner := sessions.SplitProfile(s.Profile)
	if place := by.Place(s.Origin.Private); owner != "" && place != "" && place != owner &&
		place.Of(s.Origin.User) != owner {
		return errors.New("that page belongs to another server, or to somebody's private tasks; share it there")
	}
	name, err := policy.SelectProfile(s.Origin, s.Origin.Place(s.Origin.Private), s.Profile)
	if err == nil && name != s.Profile { // profiles of old sessions belong to no place
		err = errors.New("that page was open in a browser that belongs to the operator now; go on with the session, and " +
			"then share it")
	}
	return err
}

// pageTarget shows a share on the call page.
type pageTarget struct{ service *CallService }

func (pageTarget) Name() string { return "the call page" }

func (p pageTarget) Begin(_ context.Context, s share.Presentation) (share.ViewLocation, error) {
	c := p.service.callPage.Current()
	if c == nil {
		return share.ViewLocation{}, errors.New("nobody is on the call page")
	}
	c.Show(s.Session.Title, func() webrtc.FrameSource { return s.Source.SubscribeTo(videosource.Video) })
	return share.ViewLocation{Text: "You see it on this page."}, nil
}

func (p pageTarget) End(context.Context, share.Presentation) error {
	if c := p.service.callPage.Current(); c != nil {
		c.StopShowing()
	}
	return nil
}

// SendNotice implements [share.Host].
func (x shareHost) SendNotice(n share.Notice) {
	if n.Call == pageCallRef {
		if c := x.callPage.Current(); c != nil {
			c.Write(webrtc.Note{Kind: webrtc.ChatNote, Text: appendLink(n.Text, n.Link)})
		}
		return
	}
	b := x.bot.Load()
	if b == nil {
		return
	}
	text := x.locale(n.Call.Guild).Text(n.Text)
	text = appendLink(discord.EscapeLine(text, maxShareNotice), n.Link) // contains names and texts from servers
	x.background.Go(func() {
		if err := (*b).Post(x.callsContext, n.Call.Channel, text, nil); err != nil {
			x.Logger.Warn("news of a share not told", "channel", n.Call.Channel, "error", err)
		}
	})
}

const maxShareNotice = 1000 // characters of a notice about a share

func appendLink(text, link string) string {
	if link == "" {
		return text
	}
	return text + "\n" + link
}

// Screenshotter implements [share.Host].
func (x shareHost) Screenshotter(_ context.Context, s sessions.Session) (videosource.Screenshotter, error) {
	w, ok := x.Browsers.Lookup(s.ID)
	if !ok {
		return nil, errors.New("its page is not open; ask for something in that session first")
	}
	return w, nil
}

// PlaySound implements [share.Host].
func (x shareHost) PlaySound(ctx context.Context, c share.CallRef, s sessions.Session) {
	w, open := x.Browsers.Lookup(s.ID)
	player := x.soundPlayer(c)
	if !open || player == nil {
		return
	}
	play := func(ctx context.Context) iter.Seq2[[]byte, error] {
		return soundPackets(w.Sound(ctx), func() bool { return x.mayBeHeard(ctx, s) })
	}
	if err := player.PlayBackground(ctx, play); err != nil {
		x.Logger.Warn("a shared page cannot be heard", "session", s.ID, "error", err)
	}
}

// soundPlayer returns the player for the sound of shared pages in a call; nil if there is none.
func (x *CallService) soundPlayer(c share.CallRef) *playout.Player {
	p, speaks := x.players.Load(c.ID)
	if !speaks || !x.Settings.Current().Share.Sound {
		return nil
	}
	return p.(*playout.Player)
}

// mayBeHeard reports whether no task of another channel uses the browser of a session: Chromium mixes the sound of
// all pages.
func (x shareHost) mayBeHeard(ctx context.Context, s sessions.Session) bool {
	running, err := x.Sessions.Sessions(ctx,
		sessions.SessionQuery{States: []sessions.SessionState{sessions.SessionRunning}})
	return err == nil && !slices.ContainsFunc(running, func(o sessions.Session) bool {
		return o.Profile == s.Profile && (o.Origin.Guild != s.Origin.Guild || o.Origin.Channel != s.Origin.Channel)
	})
}

// soundCheckEvery is the interval between checks whether pages may be heard.
const soundCheckEvery = time.Second

// soundPackets encodes the sound of pages while they may be heard. It drops silence, so that a silent page does not
// appear to speak.
func soundPackets(pieces iter.Seq[[]int16], may func() bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		encoder, err := voice.NewMusicEncoder()
		if err != nil {
			yield(nil, err)
			return
		}
		var heard bool
		var looked time.Time
		for piece := range pieces {
			if peak, _ := voice.Level(piece); peak == 0 {
				continue
			}
			if time.Since(looked) > soundCheckEvery {
				heard, looked = may(), time.Now()
			}
			if !heard {
				continue
			}
			if packet, err := encoder.Encode(piece); !yield(packet, err) || err != nil {
				return
			}
		}
	}
}

// handleCallMoved moves a call's share to the channel into which someone moved the call.
func (x *CallService) handleCallMoved(guild, channel string) {
	x.background.Go(func() {
		if err := x.shares.Move(x.callsContext, callRefOf(guild, channel)); err != nil && x.callsContext.Err() == nil {
			x.Logger.Warn("share did not follow its call", "guild", guild, "channel", channel, "error", err)
		}
	})
}
