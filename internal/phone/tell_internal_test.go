package phone

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"clank/sessions"
	"clank/sharing"
	"clank/voice/discord"
)

// posts is a Discord that remembers what is written.
type posts struct{ texts []string }

func (*posts) Send(context.Context, int, any) error { return nil }
func (*posts) UserID() string                       { return "1" }
func (p *posts) Post(_ context.Context, _, text string, _ []sessions.Image) error {
	p.texts = append(p.texts, text)
	return nil
}

func TestANameInNewsOfAShareIsNoMarkup(t *testing.T) {
	to := &posts{}
	x := &Exchange{Logger: slog.New(slog.DiscardHandler), life: t.Context()}
	x.Connected(to)
	x.tell(sharing.Notice{
		Call: callOn("g", "c"), Text: "[free gifts](https://evil.example) <@1> ||x|| shares a browser page.", Link: "https://watch.example/#a_b_c",
	})
	x.work.Wait()
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
	x := &Exchange{joiner: &discord.Joiner{}}
	x.Dispatch("GUILD_CREATE", json.RawMessage(`{"id":"g","voice_states":[{"user_id":"1","channel_id":"v"},{"user_id":"2","channel_id":"w"}]}`))
	call := callOn("g", "v")
	for user, want := range map[string]bool{"1": true, "2": false, "3": false} {
		if got := x.within(sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: user}, call); got != want {
			t.Errorf("user %s: %v, want %v", user, got, want)
		}
	}
	if !x.within(sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: "3", Moderator: true}, call) || !x.within(pageOrigin, pageCall) {
		t.Error("a moderator or the operator may not")
	}
}
