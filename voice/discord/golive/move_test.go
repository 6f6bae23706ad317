package golive_test

import (
	"context"
	"strings"
	"testing"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/discord/golive"
	"clank/voice/share"
)

// one is the sessions of a program that has one, of a server.
type one struct{ guild string }

func (o one) Session(context.Context, string) (sessions.Session, error) {
	return sessions.Session{ID: "s", State: sessions.SessionIdle, Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "1", Guild: o.guild}}, nil
}
func (one) SetShared(context.Context, string, bool) error { return nil }
func (one) Subscribe() (<-chan sessions.Event, func())    { return nil, func() {} }

// link is what is left where Go Live is refused.
type link struct{}

func (link) Name() string { return "a link" }
func (link) Begin(context.Context, share.Presentation) (share.ViewLocation, error) {
	return share.ViewLocation{Link: "https://view.example/"}, nil
}
func (link) End(context.Context, share.Presentation) error { return nil }

// theatre is a city in which ada watches what eve's account shows of session s.
type theatre struct {
	city
	eve    discordtest.Bot
	other  discordtest.Channel // bob is there
	bob    discordtest.User
	pub    *golive.Publisher
	shares *share.Manager
	told   chan share.Notice
	before string            // the stream's key
	seen   *voicetest.Member // ada, who watches it
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	w := &theatre{city: newCity(t), told: make(chan share.Notice, 8)}
	w.bob = w.CreateUser("bob")
	w.AddMember(w.guild, w.bob)
	w.other = w.CreateVoiceChannel(w.guild, "other")
	w.JoinVoice(w.other, w.bob)
	w.eve = w.CreateAccount("eve", "of eve")
	w.pub = w.signIn(t, w.eve, true).Publisher()
	w.pub.AnswerTimeout = 8 * patience // so that nothing depends on how fast the machine is
	w.shares = &share.Manager{
		Sessions: one{w.guild.ID},
		Screen:   func(context.Context, sessions.Session) (videosource.Screenshotter, error) { return &film{}, nil },
		Targets: func(share.CallRef) []share.Target {
			return []share.Target{&golive.Target{Publisher: w.pub}, link{}}
		},
		SendNotice: func(n share.Notice) { w.told <- n },
		NewSource:  func() *videosource.Source { return &videosource.Source{IdleFPS: 20} },
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	t.Cleanup(func() {
		if err := w.shares.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.shares.Share(ctx, w.in(w.call), "s", sessions.Origin{Kind: sessions.FromDiscord, User: "1", Guild: w.guild.ID}); err != nil {
		t.Fatal(err)
	}
	<-w.told
	w.before = w.pub.Current().State().Key
	w.seen = w.watches(t, w.before, w.ada)
	return w
}

// in returns the call when it is in a channel.
func (w *theatre) in(c discordtest.Channel) share.CallRef {
	return share.CallRef{ID: "call", Guild: w.guild.ID, Channel: c.ID}
}

// watches has somebody watch a stream, until a picture has come.
func (w *theatre) watches(t *testing.T, key string, who discordtest.User) *voicetest.Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := w.WatchStream(ctx, key, who, voicetest.MemberOptions{Privacy: voicetest.NewDAVESession})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() }) // which says how it ended, as Discord had it
	m.RequestQuality(100)
	whole(t, m)
	return m
}

// follows moves the call, after which bob sees the stream where he is. It returns the stream's key.
func (w *theatre) follows(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.shares.Move(ctx, w.in(w.other)); err != nil {
		t.Fatal(err)
	}
	if n := <-w.told; n.Call != w.in(w.other) || !strings.Contains(n.Text, "Go Live") || len(w.told) > 0 {
		t.Errorf("told %+v and %d more, want one notice in the new channel", n, len(w.told))
	}
	now := w.pub.Current().State().Key
	w.watches(t, now, w.bob)
	if list := w.Streams(); len(list) != 1 || now == w.before {
		t.Errorf("there are the streams %v, want the new one alone", list)
	}
	eventually(t, "the end for the one who watched in the old channel", func() bool { return w.seen.Err() != nil })
	return now
}

func TestAStreamFollowsItsCall(t *testing.T) {
	t.Parallel()
	w := newTheatre(t)
	now := w.follows(t)
	w.EndStream(now, "unauthorized") // and what Discord ends is shown by the link
	if n := <-w.told; n.Link == "" || !strings.Contains(n.Text, "permission") {
		t.Errorf("told %+v, want why, and the link", n)
	}
}

func TestPeopleAreToldOnceWhenTheAccountIsMovedBeforeTheCall(t *testing.T) {
	t.Parallel()
	w := newTheatre(t)
	s := w.pub.Current()
	w.MoveVoice(w.other, w.eve.User)
	eventually(t, "the end of the stream", func() bool { return s.State().Status == golive.Failed })
	if got := s.State().Reason; !strings.Contains(got, "moved") {
		t.Errorf("it has ended because %s, want because of the move", got)
	}
	w.follows(t)
}
