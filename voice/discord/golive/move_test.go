package golive_test

import (
	"context"
	"strings"
	"testing"

	"clank/internal/discordtest"
	"clank/internal/discordtest/member"
	"clank/internal/discordtest/private"
	"clank/sessions"
	"clank/sharing"
	"clank/videosource"
	"clank/voice/discord/golive"
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
func (link) Begin(context.Context, sharing.Show) (sharing.Place, error) {
	return sharing.Place{Link: "https://view.example/"}, nil
}
func (link) End(context.Context, sharing.Show) error { return nil }

func TestAStreamFollowsItsCall(t *testing.T) {
	t.Parallel()
	w := newCity(t)
	bob := w.CreateUser("bob")
	w.AddMember(w.guild, bob)
	other := w.CreateVoiceChannel(w.guild, "other")
	w.JoinVoice(other, bob)
	a := w.signIn(t, w.CreateAccount("eve", "of eve"), true)
	told := make(chan sharing.Notice, 8)
	shares := &sharing.Manager{
		Sessions: one{w.guild.ID},
		Screen:   func(context.Context, sessions.Session) (videosource.Screenshotter, error) { return &film{}, nil },
		Stages: func(sharing.Call) []sharing.Stage {
			return []sharing.Stage{&golive.Stage{Publisher: a.Publisher()}, link{}}
		},
		Tell:   func(n sharing.Notice) { told <- n },
		Source: func() *videosource.Source { return &videosource.Source{Slow: 20} },
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	defer func() {
		if err := shares.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	in := func(c discordtest.Channel) sharing.Call {
		return sharing.Call{ID: "call", Guild: w.guild.ID, Channel: c.ID}
	}
	if _, err := shares.Share(ctx, in(w.call), "s", sessions.Origin{Kind: sessions.FromDiscord, User: "1", Guild: w.guild.ID}); err != nil {
		t.Fatal(err)
	}
	<-told
	before := a.Publisher().Current().State().Key
	ada, err := w.WatchStream(ctx, before, w.ada, member.Options{Privacy: private.Ours})
	if err != nil {
		t.Fatal(err)
	}
	defer ada.Close()
	ada.Want(100)
	whole(t, ada)

	if err := shares.Move(ctx, in(other)); err != nil {
		t.Fatal(err)
	}
	if n := <-told; n.Call != in(other) || !strings.Contains(n.Text, "Go Live") || len(told) > 0 {
		t.Errorf("told %+v and %d more, want one notice in the new channel", n, len(told))
	}
	now := a.Publisher().Current().State().Key
	watching, err := w.WatchStream(ctx, now, bob, member.Options{Privacy: private.Ours})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Close()
	watching.Want(100)
	whole(t, watching)
	if list := w.Streams(); len(list) != 1 || now == before {
		t.Errorf("there are the streams %v, want the new one alone", list)
	}
	eventually(t, "the end for the one who watched in the old channel", func() bool { return ada.Err() != nil })

	w.EndStream(now, "unauthorized") // and what Discord ends is shown by the link
	if n := <-told; n.Link == "" || !strings.Contains(n.Text, "permission") {
		t.Errorf("told %+v, want why, and the link", n)
	}
}
