package computeruse_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/computeruse"
	"clank/internal/test/llmtest"
	"clank/llm"
)

func TestFaultsOfEveryVendorAreToldAlike(t *testing.T) {
	t.Parallel()
	broken := func(f llmtest.Fault) []llmtest.Turn { return []llmtest.Turn{llmtest.SayWithFault("so far so good", f)} }
	long := map[string]string{"Retry-After": "600"}
	trouble := llmtest.Fail(http.StatusInternalServerError, "", "oops")
	for name, tt := range map[string]struct {
		turns []llmtest.Turn
		kind  llm.ErrorKind // of the failure
		stop  llm.StopReason
	}{
		"asked too often":   {broken(llmtest.Fault{Status: http.StatusTooManyRequests, Message: "slow down", Header: long}), llm.ErrRateLimited, ""},
		"in trouble":        {[]llmtest.Turn{trouble, trouble, trouble}, llm.ErrUnavailable, ""},
		"the stream is cut": {broken(llmtest.Fault{At: 2, Cut: llmtest.CutClose}), llm.ErrCutOff, ""},
		"no JSON":           {[]llmtest.Turn{llmtest.Answer(llmtest.Reply{Events: []string{`{"type":`}})}, llm.ErrMalformed, ""},
		"nothing said":      {[]llmtest.Turn{llmtest.Answer(llmtest.Reply{})}, "", llm.StopEnd},
		"refused":           {[]llmtest.Turn{llmtest.Answer(llmtest.Reply{Refusal: "I do not do that."})}, "", "refused"},
	} {
		for _, v := range vendors() {
			t.Run(name+", "+v.name, func(t *testing.T) {
				t.Parallel()
				mind, asked := v.serve(t, append(tt.turns, llmtest.Say("hello"))...)
				talk, err := mind.Begin(computeruse.ConversationOptions{System: "Work.", MaxTokens: 1000})
				if err != nil {
					t.Fatal(err)
				}
				turn, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"find a lamp"}})
				var told *llm.Error
				switch {
				case tt.kind == "" && (err != nil || len(turn.Calls)+len(turn.Tools) != 0):
					t.Fatalf("got %+v, %v; want an answer without calls", turn, err)
				case tt.stop == "refused" && turn.Stop != llm.StopRefused && turn.Stop != llm.StopFilter:
					t.Errorf("it ended by %q, want a refusal", turn.Stop)
				case tt.kind != "" && (!errors.As(err, &told) || told.Kind != tt.kind):
					t.Fatalf("err = %v, want one of the kind %s", err, tt.kind)
				}
				goesOn(t, talk, asked)
			})
		}
	}
}

// goesOn fails the test unless the conversation does, and what was told in vain is
// told again, once.
func goesOn(t *testing.T, talk computeruse.Conversation, asked func() []llmtest.Request) {
	t.Helper()
	turn, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"go on"}})
	if err != nil || turn.Text != "hello" {
		t.Errorf("afterwards: %+v, %v; want it to go on", turn, err)
	}
	all := asked()
	last := string(all[len(all)-1].Body)
	if n := strings.Count(last, "find a lamp"); n != 1 && !strings.Contains(last, "previous_response_id") {
		t.Errorf("the task was told %d times, want once:\n%s", n, last)
	}
}

func TestAStopEndsAQuestionToEveryVendor(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]llmtest.Fault{
		"before the answer": {Hang: llmtest.BeforeHeaders}, "in the answer": {Hang: llmtest.InStream, At: 2}, "between tries": {
			Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "25"},
		},
	} {
		for _, v := range vendors() {
			t.Run(name+", "+v.name, func(t *testing.T) {
				t.Parallel()
				mind, asked := v.serve(t, llmtest.SayWithFault("so far so good", f), llmtest.Say("hello"))
				talk, err := mind.Begin(computeruse.ConversationOptions{System: "Work.", MaxTokens: 1000})
				if err != nil {
					t.Fatal(err)
				}
				why := errors.New("it took too long for the person")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ended := make(chan error, 1)
				go func() {
					_, err := talk.Next(ctx, computeruse.Input{Says: []string{"find a lamp"}})
					ended <- err
				}()
				for len(asked()) == 0 { // until the question is there
					select {
					case err := <-ended:
						t.Fatalf("it ended by itself: %v", err)
					case <-time.After(time.Millisecond):
					}
				}
				cancel(why)
				if err := <-ended; !errors.Is(err, why) {
					t.Errorf("err = %v, want why it was stopped", err)
				}
				goesOn(t, talk, asked)
			})
		}
	}
}
