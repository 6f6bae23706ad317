package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
)

// twoSpeakers runs a session in which Ada speaks for the first second of the sound, and then Bob for one; do leads the
// server from there. use is what its tools do.
func twoSpeakers(
	t *testing.T, use func(ctx context.Context, o sessions.Origin) (string, error),
	do func(s *client, c *llmtest.RealtimeConn),
) {
	t.Helper()
	second, done := make(chan struct{}), make(chan struct{})
	var s *client
	s, _ = served(t, func(c *llmtest.RealtimeConn) {
		defer close(done)
		c.Ignore = func(e llmtest.RealtimeEvent) bool { // who speaks is another test's business
			return e.Text("item.type") == "message" && strings.HasSuffix(textOf(e), " speaking]")
		}
		c.Open()
		for n := range 2 {
			for len(c.Audio()) < (n+1)*2*voice.RateRealtime {
				<-time.After(5 * time.Millisecond)
			}
			if n == 0 {
				close(second)
			}
		}
		do(s, c)
	})
	for i := range s.Tools {
		s.Tools[i].Call = func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
			text, err := use(ctx, o)
			return text, nil, err
		}
	}
	s.Hear(voice.Sound{From: "ada", Samples: constant(5000, voice.RateRealtime)})
	run(t, s)
	await(t, second)
	s.Hear(voice.Sound{From: "bob", Samples: constant(-5000, voice.RateRealtime)})
	await(t, done)
}

func TestTheModelIsToldWhoSpeaksWhereThatChanges(t *testing.T) {
	t.Parallel()
	told := make(chan string, 8)
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		next := func() { told <- textOf(c.Expect("conversation.item.create")) }
		c.Open()
		for len(c.Audio()) < 2*voice.RateRealtime {
			<-time.After(5 * time.Millisecond)
		}
		c.Spoke("item_1", 0, 500)
		next()
		c.Spoke("item_2", 600, 900) // the same one
		c.UserTranscript("item_2", "Hello?")
		for len(c.Audio()) < 4*voice.RateRealtime {
			<-time.After(5 * time.Millisecond)
		}
		c.Spoke("item_3", 1100, 1900)
		next()
		c.Spoke("item_4", 200, 1900)
		next()
	})
	s.on.names = map[string]string{"ada": "Ada"}
	s.Hear(voice.Sound{From: "ada", Samples: constant(5000, voice.RateRealtime)})
	run(t, s)
	await(t, w.heard) // what begins then is counted with what began before
	s.Hear(voice.Sound{From: "bob", Samples: constant(-5000, voice.RateRealtime)})
	for _, want := range []string{"[Ada speaking]", "[somebody speaking]", "[Ada and somebody speaking]"} {
		check.Equal(t, "await(t, told)", await(t, told), want)
	}
}

// textOf returns the text of an item that we add.
func textOf(e llmtest.RealtimeEvent) string {
	parts, _ := e.Get("item.content").([]any)
	first, _ := parts[0].(map[string]any)
	text, _ := first["text"].(string)
	return text
}

func TestAToolIsUsedForThoseWhoseWordsItsResponseAnswers(t *testing.T) {
	t.Parallel()
	n := 0
	id := func(kind string) string { n++; return kind + "_" + strconv.Itoa(n) }
	type server struct{ *llmtest.RealtimeConn }
	ada := func(c server) { c.Spoke(id("item"), 0, 900) }
	bob := func(c server) { c.Spoke(id("item"), 1100, 1900) }
	both := func(c server) { c.Spoke(id("item"), 500, 1500) }
	// answer has the model answer with a call of a tool, after something else has happened, and returns for whom that
	// was.
	answer := func(c server, status string, meanwhile func(server)) string {
		r := id("resp")
		c.Begin(r, id("item"))
		if meanwhile != nil {
			meanwhile(c)
		}
		c.FunctionCall(r, id("item"), id("call"), "browse", "{}")
		var got struct{ Result string }
		_ = json.Unmarshal([]byte(c.Expect("conversation.item.create").Text("item.output")), &got)
		c.Done(r, "", status)
		c.Expect("response.create")
		return got.Result
	}
	// rest has the model say something about the results, so that nothing is open any more.
	rest := func(c server) {
		r := id("resp")
		c.Begin(r, id("item"))
		c.Done(r, "", "completed")
	}
	say := func(_ context.Context, o sessions.Origin) (string, error) { return o.User, nil }
	twoSpeakers(t, say, func(_ *client, conn *llmtest.RealtimeConn) {
		c := server{conn}
		for _, tc := range []struct {
			name      string
			said      []func(server)
			meanwhile func(server)
			status    string
			want      string
			then      string // for whom the next response is that goes on with the result
		}{
			{"one person's turn", []func(server){ada}, nil, "completed", "ada", "ada"},
			{"another speaks before the call is made", []func(server){ada}, bob, "completed", "ada", "ada+bob"},
			{"the same the other way round", []func(server){bob}, ada, "completed", "bob", "ada+bob"},
			{"one utterance of both", []func(server){both}, nil, "completed", "ada+bob", "ada+bob"},
			{"two utterances before one answer", []func(server){ada, bob}, nil, "completed", "ada+bob", "ada+bob"},
			{"a response that was broken off", []func(server){bob}, nil, "cancelled", "bob", "bob"},
			{"after an answer nothing is left of it", []func(server){ada}, nil, "completed", "ada", "ada"},
			{"a response that nobody asked for", nil, nil, "completed", "", ""},
		} {
			for _, speak := range tc.said {
				speak(c)
			}
			check.Equal(t, tc.name+": the tool is used for", answer(c, tc.status, tc.meanwhile), tc.want)
			check.Equal(t, tc.name+": the next is used for", answer(c, "completed", nil), tc.then)
			rest(c)
		}
		bob(c)
		broken := id("resp")
		c.Begin(broken, id("item"))
		ada(c)
		c.Done(broken, "", "cancelled")
		if got := answer(c, "completed", nil); got != "ada+bob" {
			t.Errorf("who was interrupted before the answer came: the tool is used for %q, want both", got)
		}
		rest(c)
		ada(c)
		answer(c, "completed", nil)
		broken = id("resp")
		c.Begin(broken, id("item")) // it goes on with the result
		bob(c)
		c.Done(broken, "", "cancelled")
		if got := answer(c, "completed", nil); got != "ada+bob" {
			t.Errorf("who was interrupted between two tools: the next is used for %q, want both", got)
		}
	})
}

func TestWhoStopsEndsWhatTheyAskedFor(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 2)
	wait := func(ctx context.Context, o sessions.Origin) (string, error) {
		begun <- o.User
		<-ctx.Done()
		return "", ctx.Err()
	}
	twoSpeakers(t, wait, func(s *client, c *llmtest.RealtimeConn) {
		for n, r := range []string{"resp_1", "resp_2"} {
			c.Spoke("said_"+r, n*1100, n*1100+800)
			c.Begin(r, "item_"+r)
			c.FunctionCall(r, "call_item_"+r, "call_"+r, "browse", "{}")
			<-begun
			if n == 0 { // the other is under way
				c.Done(r, "", "completed")
			}
		}
		for _, tc := range []struct {
			who, want string
		}{
			{"ada", `call_resp_1 {"ok":false,"error":"ada said stop","cancelled":true}`},
			{"bob", `call_resp_2 {"ok":false,"error":"bob said stop","cancelled":true}`},
		} {
			s.Cancel(errors.New(tc.who+" said stop"), tc.who)
			if tc.who == "bob" {
				c.Expect("response.cancel")
			}
			e := c.Expect("conversation.item.create")
			check.Equal(t, tc.who+" stopped", e.Text("item.call_id")+" "+e.Text("item.output"), tc.want)
		}
	})
}
