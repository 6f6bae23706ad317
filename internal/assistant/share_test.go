package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// showing returns the tools of a call, which remember how they were used.
func showing(used *[]string, result string, err error) func(context.Context, sessions.Origin) []sessions.Tool {
	tool := func(name string) sessions.Tool {
		return sessions.Tool{Tool: llm.Tool{Name: name}, Call: func(_ context.Context, _ sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
			*used = append(*used, name+" "+string(input))
			return result, nil, err
		}}
	}
	return func(context.Context, sessions.Origin) []sessions.Tool {
		return []sessions.Tool{tool("share_browser_session"), tool("stop_video_share")}
	}
}

func TestWithoutAModelAPageIsShownToACallByPlainWords(t *testing.T) {
	const share, stop = `share_browser_session {"session_id":"old"}`, `stop_video_share {}`
	for said, want := range map[string]string{
		"share": share, "Show it!": share, "please share the page with us": share, "Show me the browser, please.": share, "can you show us": share,
		"Show me that.": share, "share your screen": share, "stop sharing": stop, "Stop showing the page.": stop, "unshare": stop, "end the share": stop,
		"show me lamps": "", "share prices of Acme": "", "open example.com and show it": "", "show": share, "stop": "",
	} {
		ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
		ts.last = &sessions.Session{ID: "old", State: sessions.SessionIdle, LastUsed: noon}
		b := newBrain(nil, ts)
		var used []string
		b.SingleCallTools = showing(&used, `{"ok":true,"message":"You see it on this page."}`, nil)
		a := reply(t, b, turn(said))
		if want == "" {
			if len(used) != 0 || len(ts.ran) != 1 {
				t.Errorf("%q: used %v and browsed %d times, want to browse", said, used, len(ts.ran))
			}
			continue
		}
		if diff := cmp.Diff([]string{want}, used); diff != "" || a.Text != "You see it on this page." || len(ts.ran) != 0 {
			t.Errorf("%q: answer %q, browsed %d times, used (-want +got):\n%s", said, a.Text, len(ts.ran), diff)
		}
	}
}

func TestWithoutAModelWhatCannotBeShownIsSaid(t *testing.T) {
	ts := answering(sessions.TaskRecord{State: sessions.TaskDone, Answer: "ok"})
	b := newBrain(nil, ts)
	if a := reply(t, b, turn("show it")); a.Text != "ok" {
		t.Errorf("outside of a call: %q, want it to be a task like any other", a.Text)
	}
	var used []string
	b.SingleCallTools = showing(&used, "", nil)
	if a := reply(t, b, turn("show it")); a.Text != "There is no browser session of yours here to show yet. Ask for something first." {
		t.Errorf("without a session: %q", a.Text)
	}
	ts.last = &sessions.Session{ID: "old", State: sessions.SessionIdle, LastUsed: noon}
	if a := reply(t, b, turn("show it")); a.Text != "Done." {
		t.Errorf("of a tool without words: %q", a.Text)
	}
	broken := errors.New("no stage")
	b.SingleCallTools = showing(&used, "", broken)
	if _, err := b.Reply(t.Context(), turn("show it"), nil); !errors.Is(err, broken) {
		t.Errorf("of a tool that fails: %v", err)
	}
}
