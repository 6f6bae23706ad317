package openai_test

import (
	"errors"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/internal/test/llmtest"
	"clank/llm"
)

func TestFaultsAreToldAndTheConversationGoesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		turn llmtest.Turn
		kind llm.ErrorKind
	}{
		"cut":            {llmtest.SayWithFault("half", llmtest.Fault{At: 3, Cut: llmtest.CutClose}), llm.ErrCutOff},
		"malformed":      {llmtest.Answer(llmtest.Reply{Events: []string{`{"type":`}}), llm.ErrMalformed},
		"no call id":     {llmtest.Answer(llmtest.Reply{Events: []string{`{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"computer_call"}]}}`}}), llm.ErrMalformed},
		"bad item":       {llmtest.Answer(llmtest.Reply{Events: []string{`{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"computer_call","call_id":7}]}}`}}), llm.ErrMalformed},
		"key":            {llmtest.Fail(401, "invalid_api_key", "no"), llm.ErrAuth},
		"too many":       {llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "3600"}}}), llm.ErrRateLimited},
		"stream's error": {llmtest.SayWithFault("x", llmtest.Fault{At: 2, StreamError: "overloaded"}), llm.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewServer(t, tc.turn, llmtest.Say("hello"))
			talk := begin(t, open(t, server, nil), nil)
			_, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"find a lamp"}, Shot: shot(t, 1)})
			var told *llm.Error
			if !errors.As(err, &told) || told.Kind != tc.kind {
				t.Fatalf("err = %v, want kind %s", err, tc.kind)
			}
			if turn := next(t, talk, computeruse.Input{Shot: shot(t, 2)}); turn.Text != "hello" {
				t.Errorf("got %+v, want it to go on", turn)
			}
			if raw := string(server.Requests()[1].Body); strings.Count(raw, "find a lamp") != 1 {
				t.Errorf("the task was told %d times, want once", strings.Count(raw, "find a lamp"))
			}
		})
	}
}

func TestAServerInTroubleIsAskedAgain(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Fail(500, "", "oops"), llmtest.Fail(503, "", "oops"), llmtest.Say("hello"))
	turn := next(t, begin(t, open(t, server, nil), nil), computeruse.Input{Says: []string{"hi"}})
	if turn.Text != "hello" || turn.Stop != llm.StopEnd || turn.Usage.Calls != 1 || turn.Usage.InputTokens != 10 {
		t.Errorf("got %+v, want one answer, counted once", turn)
	}
}

func TestRefusalsAreAnswers(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Refusal: "I do not do that."}), llmtest.Answer(llmtest.Reply{}))
	talk := begin(t, open(t, server, nil), nil)
	if turn := next(t, talk, computeruse.Input{Says: []string{"hi"}}); turn.Stop != llm.StopRefused || turn.Text != "I do not do that." {
		t.Errorf("got %+v, want a refusal", turn)
	}
	if turn := next(t, talk, computeruse.Input{Says: []string{"hi"}}); turn.Text != "" || len(turn.Calls)+len(turn.Tools) != 0 {
		t.Errorf("got %+v, want an empty answer", turn)
	}
}
