package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/internal/test/discordtest"
	"clank/llm"
	"clank/sessions"
)

// phone answers commands about calls with what it was asked.
type phone struct{ err error }

func (p phone) say(what string, o sessions.Origin) (string, error) {
	if o.Moderator {
		what += " (moderator)"
	}
	return what + " for " + o.UserName, p.err
}

func (p phone) Join(_ context.Context, o sessions.Origin) (string, error) { return p.say("join", o) }

func (p phone) Leave(_ context.Context, o sessions.Origin) (string, error) { return p.say("leave", o) }

func (p phone) Privacy(_ context.Context, o sessions.Origin, choice string) (string, error) {
	return p.say("privacy "+choice, o)
}

func (p phone) Share(_ context.Context, o sessions.Origin, session string) (string, error) {
	return p.say("share "+session, o)
}

func (p phone) Unshare(_ context.Context, o sessions.Origin) (string, error) {
	return p.say("unshare", o)
}

func TestCommandsAboutCallsAreAnswered(t *testing.T) {
	s := newStage(t)
	s.bot.Calls = phone{}
	s.open()
	for _, c := range []struct {
		who     discordtest.User
		command string
		args    discordtest.Args
		want    string
		private bool
	}{
		{s.ada, "join", nil, "join for ada", false},
		{s.mod, "leave", nil, "leave (moderator) for mod", false},
		{s.ada, "privacy", discordtest.Args{"choice": "out"}, "privacy out for ada", true},
		{s.ada, "share", discordtest.Args{"session": "b3"}, "share b3 for ada", true},
		{s.ada, "unshare", nil, "unshare for ada", false},
	} {
		it := s.command(c.who, c.command, c.args)
		if got := s.answer(it, c.want); got.Ephemeral != c.private {
			t.Errorf("%s: for the person alone: %v, want %v", c.command, got.Ephemeral, c.private)
		}
	}
}

func TestWhyACallCannotBeJoinedIsSaid(t *testing.T) {
	s := newStage(t)
	s.bot.Calls = phone{err: errors.New("you are in no voice channel: go into one first")}
	s.open()
	it := s.command(s.ada, "join", nil)
	s.answer(it, "go into one first")
}

func TestWithoutCallsThereAreNoCommandsAboutThem(t *testing.T) {
	s := openStage(t)
	if _, err := s.SlashCommand(s.room, s.ada, "clank join", nil); err == nil {
		t.Error("there is a command for joining")
	}
}

func TestPostWritesTextAndPictures(t *testing.T) {
	s := openStage(t)
	picture := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	if err := s.bot.Post(t.Context(), s.room.ID, "**Ferries** leave at 9", []llm.Image{picture}); err != nil {
		t.Fatal(err)
	}
	m, err := s.WaitMessage(s.ctx(), s.room, func(m discordtest.Message) bool { return strings.Contains(m.Content, "**Ferries**") })
	if err != nil || len(m.Attachments) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	if err := s.bot.Post(t.Context(), "1", "lost", nil); err == nil {
		t.Error("nobody is told that there is no such channel")
	}
}
