package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"clank/llm"
	"clank/sessions"
	"clank/voice/discord"
	"clank/voice/share"
)

// recordedPosts is a Discord that remembers what is written.
type recordedPosts struct{ texts []string }

func (*recordedPosts) Send(context.Context, int, any) error { return nil }
func (*recordedPosts) UserID() string                       { return "1" }
func (p *recordedPosts) Post(_ context.Context, _, text string, _ []llm.Image) error {
	p.texts = append(p.texts, text)
	return nil
}

func TestANameInNewsOfAShareIsNoMarkup(t *testing.T) {
	to := &recordedPosts{}
	x := &CallService{Logger: slog.New(slog.DiscardHandler), callsContext: t.Context()}
	x.SetBot(to)
	x.sendShareNotice(share.Notice{
		Call: callRefOf("g", "c"), Text: "[free gifts](https://evil.example) <@1> ||x|| shares a browser page.", Link: "https://watch.example/#a_b_c",
	})
	x.background.Wait()
	got := strings.Join(to.texts, "\n")
	for _, bad := range []string{"](", "https://evil", "<@1>", "||"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q can be clicked or read in %q", bad, got)
		}
	}
	if !strings.HasSuffix(got, "\nhttps://watch.example/#a_b_c") {
		t.Errorf("the link is not whole in %q", got)
	}
}

func TestPagesAreShownToACallByThoseWhoAreInIt(t *testing.T) {
	x := &CallService{joiner: &discord.Joiner{}}
	x.HandleDispatch("GUILD_CREATE", json.RawMessage(`{"id":"g","voice_states":[{"user_id":"1","channel_id":"v"},{"user_id":"2","channel_id":"w"}]}`))
	call := callRefOf("g", "v")
	for user, want := range map[string]bool{"1": true, "2": false, "3": false} {
		if got := x.mayControlShare(sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: user}, call); got != want {
			t.Errorf("user %s: %v, want %v", user, got, want)
		}
	}
	if !x.mayControlShare(sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: "3", Moderator: true}, call) || !x.mayControlShare(pageOrigin, pageCallRef) {
		t.Error("a moderator or the operator may not")
	}
}
