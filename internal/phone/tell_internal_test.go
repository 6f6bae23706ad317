package phone

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"clank/sessions"
	"clank/sharing"
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
