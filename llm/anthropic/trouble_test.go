package anthropic_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/transport"
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
		"cut midway":   {llmtest.Fault{At: 4, Cut: llmtest.CutClose}, llm.ErrCutOff, "cut off", 1},
		"ended midway": {llmtest.Fault{At: 4, Cut: llmtest.CutClean}, llm.ErrCutOff, "cut off", 1},
		"reset midway": {llmtest.Fault{At: 4, Cut: llmtest.CutReset}, llm.ErrCutOff, "cut off", 1},
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

func TestARetryIsVisibleAndWaitsAsLongAsAsked(t *testing.T) {
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 529, Message: "Overloaded", Header: map[string]string{"Retry-After-Ms": "30"}}}),
		llmtest.Say("now"))
	var retries []transport.RetryEvent
	m := open(t, server, func(o *anthropic.Options) { o.OnRetry = func(r transport.RetryEvent) { retries = append(retries, r) } })
	if got := answer(t, m, ask("hi")).Text(); got != "now" {
		t.Errorf("answer = %q", got)
	}
	if len(retries) != 1 || retries[0].Try != 1 || retries[0].Wait != 30*time.Millisecond {
		t.Errorf("retries = %+v, want one after 30ms", retries)
	}
	requests := server.Requests()
	if got := requests[1].Arrived.Sub(requests[0].Ended); got < 25*time.Millisecond {
		t.Errorf("asked again after %v, want 30ms", got)
	}
}

func TestSecretsOfAServerAreNotRepeated(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Fail(400, "", "bad key "+testKey+" and sk-ant-api03-AAAAAAAAAAAA"))
	told := failure(t, open(t, server, nil), llm.ErrRejected)
	if strings.Contains(told.Error(), "sk-ant") {
		t.Errorf("error = %q", told)
	}
}

func TestSilenceIsNoticedAtEachPoint(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"before the head": {Hang: llmtest.BeforeHeaders},
		"after the head":  {Hang: llmtest.InStream},
		"in the text":     {Hang: llmtest.InStream, At: 4},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.SayWithFault("one two three", fault))
			m := open(t, server, func(o *anthropic.Options) { o.IdleTimeout, o.Timeout = 50*time.Millisecond, time.Second })
			failure(t, m, llm.ErrTimeout)
			if _, err := server.Await(within(t, time.Minute), 0, llmtest.Ended); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASlowAnswerThatNeverStopsMeetsTheDeadline(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.SayWithFault(strings.Repeat("word ", 500), llmtest.Fault{Trickle: 10 * time.Millisecond}))
	m := open(t, server, func(o *anthropic.Options) { o.Timeout = 300 * time.Millisecond })
	told := failure(t, m, llm.ErrTimeout)
	if !strings.Contains(told.Message, "no complete answer within 300ms") {
		t.Errorf("message = %q", told.Message)
	}
}

func TestAStopIsObeyedAtEachPointAndClosesTheConnection(t *testing.T) {
	cause := errors.New("a person said stop")
	for name, fault := range map[string]llmtest.Fault{
		"before the head": {Hang: llmtest.BeforeHeaders},
		"in the text":     {Hang: llmtest.InStream, At: 4},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.SayWithFault("one two three", fault))
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			done := make(chan error, 1)
			go func() {
				_, err := open(t, server, nil).Generate(ctx, ask("hi"), func(llm.Delta) { stop(cause) })
				done <- err
			}()
			ready := llmtest.Arrived
			if fault.Hang == llmtest.InStream {
				ready = func(r llmtest.Request) bool { return !r.Sent.IsZero() }
			}
			if _, err := server.Await(within(t, time.Minute), 0, ready); err != nil {
				t.Fatal(err)
			}
			stop(cause)
			if err := <-done; !errors.Is(err, cause) {
				t.Errorf("err = %v, want the cause", err)
			}
			if r, err := server.Await(within(t, time.Minute), 0, llmtest.Ended); err != nil || !r.Gone {
				t.Errorf("the connection is still open: gone %v, %v", r.Gone, err)
			}
		})
	}
}

func TestAStopBetweenTriesIsObeyed(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Fail(500, "", "no"))
	cause := errors.New("stop")
	ctx, stop := context.WithCancelCause(t.Context())
	m := open(t, server, func(o *anthropic.Options) {
		o.Backoff = 10 * time.Second
		o.OnRetry = func(transport.RetryEvent) { stop(cause) }
	})
	if _, err := m.Generate(ctx, ask("hi"), nil); !errors.Is(err, cause) {
		t.Errorf("err = %v, want the cause", err)
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
			reply := answer(t, open(t, server, nil), ask("hi"))
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
	reply, err := open(t, server, nil).Generate(t.Context(), ask("hi"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := reply.Text(), "first\n\nthen after first"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if reply.Usage.Calls != 2 || reply.Usage.InputTokens != 20 {
		t.Errorf("usage = %+v, want two calls", reply.Usage)
	}
}

func TestMalformedInputOfAToolIsMarkedAndCanBeAnswered(t *testing.T) {
	for name, arguments := range map[string]string{"cut off": `{"x": 1, "y`, "a list": `[1]`, "words": `x=1`} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Use("look", arguments), llmtest.Say("sorry"))
			m := open(t, server, nil)
			req := ask("go")
			reply := answer(t, m, req)
			if got := reply.Calls(); len(got) != 1 || got[0].Malformed != arguments || string(got[0].Input) != "{}" {
				t.Fatalf("calls = %+v, want malformed %q", got, arguments)
			}
			req.Messages = conversation(req.Messages, reply, "not JSON")
			answer(t, m, req)
		})
	}
}

func TestUnknownBlocksAreKeptAndUnknownEventsPassedOver(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(llmtest.Reply{Events: []string{
		`{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"weather_report","sunny":true}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"hologram","light":[1,2.50]}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"photon_delta","n":1}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"see"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	}}))
	reply := answer(t, open(t, server, nil), ask("hi"))
	if len(reply.Message.Parts) != 2 || reply.Message.Parts[0].Opaque == nil || reply.Text() != "see" {
		t.Fatalf("parts = %+v", reply.Message.Parts)
	}
	if got, want := string(reply.Message.Parts[0].Opaque.Data), `{"type":"hologram","light":[1,2.50]}`; got != want {
		t.Errorf("opaque = %s, want %s", got, want)
	}
	if reply.Usage.InputTokens != 3 || reply.Usage.OutputTokens != 7 {
		t.Errorf("usage = %+v, want 3 and 7", reply.Usage)
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

func TestNobodyAtTheAddressIsTold(t *testing.T) {
	server := llmtest.OpenAnthropic()
	m := open(t, server, nil)
	server.Close()
	told := failure(t, m, llm.ErrUnavailable)
	if !strings.Contains(told.Message, "nothing answers at 127.0.0.1") {
		t.Errorf("message = %q", told.Message)
	}
}
