package anthropic_test

import (
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"
)

func TestFailuresAreToldForWhatTheyAre(t *testing.T) {
	page := "<html><body>502</body></html>"
	for name, tt := range map[string]struct {
		fault llmtest.Fault
		kind  llm.ErrorKind
		says  string
		tries int
	}{
		"no key":       {llmtest.Fault{Status: 401, Message: "invalid x-api-key"}, llm.ErrAuth, "the key was not accepted", 1},
		"not allowed":  {llmtest.Fault{Status: 403, Message: "no"}, llm.ErrAuth, "may not use", 1},
		"no such":      {llmtest.Fault{Status: 404, Message: "model: claude-opus-5-5"}, llm.ErrNotFound, `there is no model "claude-opus-5-5"`, 1},
		"no credit":    {llmtest.Fault{Status: 400, Message: "Your credit balance is too low to access the API"}, llm.ErrRateLimited, "no credit left", 1},
		"too long":     {llmtest.Fault{Status: 400, Message: "prompt is too long: 1000001 tokens > 1000000 maximum"}, llm.ErrRejected, "start a new one", 1},
		"too large":    {llmtest.Fault{Status: 413, Message: "Request exceeds the maximum size"}, llm.ErrRejected, "start a new one", 1},
		"wrong tools":  {llmtest.Fault{Status: 400, Message: "'claude-x' does not support tool types: computer_20251124"}, llm.ErrRejected, "choose another model or other tools", 1},
		"invalid":      {llmtest.Fault{Status: 400, Message: "max_tokens: too big"}, llm.ErrRejected, "max_tokens: too big", 1},
		"limited":      {llmtest.Fault{Status: 429, Message: "slow down"}, llm.ErrRateLimited, "slow down", 3},
		"limited long": {llmtest.Fault{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "600"}}, llm.ErrRateLimited, "10m0s", 1},
		"broken":       {llmtest.Fault{Status: 500, Message: "internal"}, llm.ErrUnavailable, "internal", 3},
		"overloaded":   {llmtest.Fault{Status: 529, Message: "Overloaded"}, llm.ErrUnavailable, "Overloaded", 3},
		"web page":     {llmtest.Fault{Body: &page, Header: map[string]string{"Content-Type": "text/html"}}, llm.ErrMalformed, "a web page", 1},
		"told midway":  {llmtest.Fault{At: 4, StreamError: "Overloaded"}, llm.ErrUnavailable, "broke off its answer: Overloaded", 1},
		"told at once": {llmtest.Fault{At: 2, StreamError: "Overloaded"}, llm.ErrUnavailable, "broke off its answer: Overloaded", 3},
		"cut at once":  {llmtest.Fault{Cut: llmtest.CutClean}, llm.ErrCutOff, "cut off", 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t)
			server.SetFallback(llmtest.SayWithFault("one two three four", tt.fault))
			told := failure(t, open(t, server, nil), tt.kind)
			if !strings.Contains(told.Error(), tt.says) {
				t.Errorf("error = %q, want it to say %q", told, tt.says)
			}
			if told.Status != tt.fault.Status {
				t.Errorf("status = %d, want %d", told.Status, tt.fault.Status)
			}
			if got := len(server.Requests()); got != tt.tries {
				t.Errorf("tries = %d, want %d", got, tt.tries)
			}
		})
	}
}

func TestSecretsOfAServerAreNotRepeated(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Fail(400, "", "bad key "+testKey+" and sk-ant-api03-AAAAAAAAAAAA"))
	told := failure(t, open(t, server, nil), llm.ErrRejected)
	if strings.Contains(told.Error(), "sk-ant") {
		t.Errorf("error = %q", told)
	}
}

func TestAnswersEndInManyWays(t *testing.T) {
	for name, tt := range map[string]struct {
		reply llmtest.Reply
		stop  llm.StopReason
		text  string
	}{
		"empty":           {llmtest.Reply{}, llm.StopEnd, ""},
		"too long":        {llmtest.Reply{Text: "once upon", Finish: "length"}, llm.StopLength, "once upon"},
		"context full":    {llmtest.Reply{Text: "once", Finish: "model_context_window_exceeded"}, llm.StopLength, "once"},
		"refusal":         {llmtest.Reply{Refusal: "it could harm"}, llm.StopRefused, "The model declined to answer: it could harm"},
		"silent refusal":  {llmtest.Reply{Finish: "refusal"}, llm.StopRefused, "The model declined to answer."},
		"refusal midway":  {llmtest.Reply{Text: "Well, I", Refusal: "no"}, llm.StopRefused, "Well, I"},
		"new stop reason": {llmtest.Reply{Text: "hm", Finish: "coffee_break"}, llm.StopUnknown, "hm"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(tt.reply))
			reply := generate(t, open(t, server, nil), ask("hi"))
			if reply.Stop != tt.stop || reply.Text() != tt.text {
				t.Errorf("stop %s, text %q; want %s, %q", reply.Stop, reply.Text(), tt.stop, tt.text)
			}
		})
	}
}

func TestAPausedAnswerIsContinued(t *testing.T) {
	usage := &llm.Usage{InputTokens: 10, OutputTokens: 1}
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(llmtest.Reply{Text: "first", Finish: "pause_turn", Usage: usage}),
		func(r llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Text: "then after " + r.Messages[len(r.Messages)-1].Text(), Usage: usage}
		})
	server.SetFallback(llmtest.Fail(500, "", "asked too often"))
	reply := generate(t, open(t, server, nil), ask("hi"))
	if got, want := reply.Text(), "first\n\nthen after first"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if reply.Usage.Calls != 2 || reply.Usage.InputTokens != 20 {
		t.Errorf("usage = %+v, want two calls", reply.Usage)
	}
}

func TestStreamsOfNonsenseAreMalformed(t *testing.T) {
	for name, events := range map[string][]string{
		"no JSON":          {`{"type":`},
		"a piece of none":  {`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`},
		"blocks in a mess": {`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}`},
		"a block of none":  {`{"type":"content_block_start","index":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(llmtest.Reply{Events: events}))
			failure(t, open(t, server, nil), llm.ErrMalformed)
		})
	}
}
