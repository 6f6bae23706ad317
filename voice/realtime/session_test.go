package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
)

func TestASessionIsSetUpAsItIsToBe(t *testing.T) {
	t.Parallel()
	updates := make(chan llmtest.RealtimeEvent, 1)
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		updates <- c.Open()
		c.AwaitClose()
	}})
	s, _ := session(srv)
	stop := run(t, s)
	got := await(t, updates)
	for path, want := range map[string]any{
		"session.type": "realtime", "session.model": "gpt-realtime-2.1", "session.instructions": "Be short.",
		"session.audio.input.format.rate": 24000.0, "session.audio.input.transcription.language": "en",
		"session.audio.output.voice": "marin", "session.audio.input.turn_detection.type": "server_vad",
	} {
		check.Diff(t, path, got.Get(path), want)
	}
	tools, _ := got.Get("session.tools").([]any)
	if len(tools) != 2 {
		t.Errorf("tools: %v", tools)
	}
	check.Must(t, stop()) // the end
	if r := srv.Requests()[0]; r.Header.Get("Authorization") != "Bearer sk-secret" ||
		r.URL.Query().Get("model") != "gpt-realtime-2.1" {
		t.Errorf("asked with %q for %s", r.Header.Get("Authorization"), r.URL)
	}
}

func TestAQuestionIsHeardAndAnswered(t *testing.T) {
	t.Parallel()
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		for len(c.Audio()) < 2*voice.RateRealtime { // a second of sound, or of the silence after it
			<-time.After(10 * time.Millisecond)
		}
		c.Speech("item_1")
		c.UserTranscript("item_1", "What time is it?")
		c.Begin("resp_1", "item_2")
		c.OutputAudio("resp_1", "item_2", pcm(500*time.Millisecond))
		c.OutputAudio("resp_1", "item_2", pcm(490*time.Millisecond))
		c.OutputTranscript("resp_1", "item_2", "It is noon.")
		c.Done("resp_1", "item_2", "completed")
	})
	run(t, s)
	s.Hear(voice.Sound{From: "ada", Rate: voice.RateRealtime, Samples: make([]int16, 24000)})
	p := await(t, w.speak)
	check.Equal(t, "count(t, p)", count(t, p), 50)
	check.Equal(t, "heard", await(t, w.heard), "What time is it?")
	check.Equal(t, "said", await(t, w.said), "It is noon.")
	want := realtime.Usage{AudioInput: 60, AudioOutput: 40}
	want.Usage = llm.Usage{Calls: 1, InputTokens: 100, CachedTokens: 20, OutputTokens: 50}
	check.Diff(t, "await(t, w.used)", await(t, w.used), want)
}

func TestAnAnswerThatTheEndCutsOffIsCounted(t *testing.T) {
	t.Parallel()
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Expect("conversation.item.create")
		c.Expect("response.create")
		c.Begin("resp_1", "item_1")
		c.OutputAudio("resp_1", "item_1", pcm(500*time.Millisecond))
	})
	s.AddMessage("Hello?")
	stop := run(t, s)
	await(t, w.speak)
	check.Must(t, stop())
	select {
	case <-w.used:
	default:
		t.Error("nothing is counted")
	}
}

func TestToolsRunAtTheSameTimeAndTheModelIsAskedOnceAllAreThere(t *testing.T) {
	t.Parallel()
	outputs := make(chan llmtest.RealtimeEvent, 2)
	first := make(chan struct{})
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "browse", `{"query":"ferry"}`)
		c.FunctionCall("resp_1", "item_3", "call_2", "stop", ``)
		c.FunctionCall("resp_1", "item_3", "call_2", "stop", ``) // told twice
		outputs <- c.Expect("conversation.item.create")
		close(first)
		outputs <- c.Expect("conversation.item.create")
		c.Done("resp_1", "", "completed")
		c.Expect("response.create") // not before the response is done
		c.Begin("resp_2", "item_4")
		c.Done("resp_2", "", "completed")
	})
	s.use(func(_ context.Context, name string, arguments json.RawMessage) string {
		if name == "browse" {
			<-first
			return "at ten: " + string(arguments)
		}
		return "stopped " + string(arguments)
	})
	run(t, s)
	for _, want := range []string{
		`{"ok":true,"result":"stopped {}"}`,
		`{"ok":true,"result":"at ten: {\"query\":\"ferry\"}"}`,
	} {
		check.Equal(t, "output", await(t, outputs).Text("item.output"), want)
	}
	await(t, w.used)
	await(t, w.used)
}

func TestWhoInterruptsIsAnsweredWithSilenceAndTheModelKnowsWhatWasHeard(t *testing.T) {
	t.Parallel()
	playing, interrupted := make(chan struct{}), make(chan llmtest.RealtimeEvent, 1)
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		c.OutputAudio("resp_1", "item_1", pcm(time.Second))
		c.OutputTranscript("resp_1", "item_1", "A long story.")
		<-playing
		c.Speech("item_2")
		interrupted <- c.Expect("conversation.item.truncate")
		c.OutputAudio("resp_1", "item_1", pcm(100*time.Millisecond)) // still under way
		c.Done("resp_1", "item_1", "cancelled")
		c.Begin("resp_2", "item_3")
		c.OutputAudio("resp_2", "item_3", pcm(100*time.Millisecond))
		c.Done("resp_2", "item_3", "completed")
	})
	run(t, s)
	p := await(t, w.speak)
	p.set(740 * time.Millisecond)
	await(t, w.said)
	close(playing)
	check.Fails(t, await(t, w.hush), realtime.ErrInterrupted)
	got := await(t, interrupted)
	if got.Text("item_id") != "item_1" || got.Get("audio_end_ms") != 740.0 {
		t.Errorf("got %v", got)
	}
	check.Equal(t, "count(t, await(t, w.speak))", count(t, await(t, w.speak)), 5)
	check.Equal(t, "count(t, p)", count(t, p), 50)
}

func TestCancelEndsTheAnswerAndTheToolsAndNobodyAsksAgain(t *testing.T) {
	t.Parallel()
	running, outputs := make(chan struct{}), make(chan llmtest.RealtimeEvent, 1)
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "browse", `{}`)
		c.Expect("response.cancel")
		outputs <- c.Expect("conversation.item.create")
		c.FunctionCall("resp_1", "item_3", "call_2", "browse", `{}`) // it comes too late to be run
		c.Expect("conversation.item.create")
		c.Done("resp_1", "", "cancelled")
		c.UserTranscript("item_4", "Thanks.")
		if rest := c.AwaitClose(); len(rest) != 0 {
			t.Errorf("afterwards came %v", rest)
		}
	}})
	s, w := session(srv)
	s.use(func(ctx context.Context, _ string, _ json.RawMessage) string {
		close(running) // a second run would panic
		<-ctx.Done()
		return "left"
	})
	stop := run(t, s)
	await(t, running)
	s.Cancel(errStop, "")
	s.Cancel(errStop, "")
	want := `{"ok":false,"error":"ada said stop","cancelled":true}`
	check.Equal(t, "output", await(t, outputs).Text("item.output"), want)
	await(t, w.heard)
	_ = stop()
}

// giving has each tool of s give pictures.
func giving(s *client, images ...llm.Image) {
	for i := range s.Tools {
		s.Tools[i].Call = func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
			return "found", images, nil
		}
	}
}

// expectPictures returns the pictures of the next item, after the result that they belong to, and its id.
func expectPictures(c *llmtest.RealtimeConn) (urls []string, id string) {
	if e := c.Expect("conversation.item.create"); e.Text("item.type") != "function_call_output" {
		panic(e)
	}
	e := c.Expect("conversation.item.create")
	parts, _ := e.Get("item.content").([]any)
	for _, p := range parts {
		if m, _ := p.(map[string]any); m["type"] == "input_image" {
			url, _ := m["image_url"].(string)
			urls = append(urls, url)
		}
	}
	return urls, e.Text("event_id")
}

func TestTheModelSeesThePicturesOfToolsOnce(t *testing.T) {
	t.Parallel()
	got, again := make(chan []string, 1), make(chan string, 1)
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "browse", `{}`)
		urls, _ := expectPictures(c)
		got <- urls
		c.Done("resp_1", "", "completed")
		c.Expect("response.create")
		c.Drop()
	}}, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		again <- strings.Join(replayed(c, 3), "\n")
		c.AwaitClose()
	}})
	s, _ := session(srv)
	giving(s, slices.Repeat([]llm.Image{{MediaType: "image/png", Data: []byte("png")}}, 5)...)
	run(t, s)
	check.Diff(t, "await(t, got)", await(t, got), slices.Repeat([]string{"data:image/png;base64,cG5n"}, 4))
	told := await(t, again)
	for text, want := range map[string]bool{"data:image": false, "4 of 5": true, "not shown any more": true} {
		if strings.Contains(told, text) != want {
			t.Errorf("the next connection is told %s", told)
		}
	}
}

func TestPicturesThatTheServerDoesNotTakeAreDescribed(t *testing.T) {
	t.Parallel()
	outputs := make(chan string, 4)
	s, _ := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "browse", `{}`)
		_, id := expectPictures(c)
		c.Done("resp_1", "", "completed")
		c.Expect("response.create")
		c.Error("invalid_request_error", "invalid_value", "this model takes no pictures", id)
		c.Begin("resp_2", "item_3")
		outputs <- textOf(c.Expect("conversation.item.create"))
		c.Done("resp_2", "", "completed")
		c.Expect("response.create")
		c.Begin("resp_3", "item_4")
		c.FunctionCall("resp_3", "item_5", "call_2", "browse", `{}`)
		outputs <- c.Expect("conversation.item.create").Text("item.output")
	})
	giving(s, llm.Image{MediaType: "image/png", Data: []byte("png")})
	s.Describe = func(_ context.Context, o sessions.Origin, p llm.Image) string {
		return "a cat, for " + o.User + ", in " + string(p.Data)
	}
	run(t, s)
	for range 2 {
		check.Contains(t, await(t, outputs), "a cat, for , in png")
	}
}

func TestTellAsksWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		if e := c.Expect("conversation.item.create"); e.Text("item.role") != "user" {
			t.Errorf("got %v", e)
		}
		c.Expect("response.create")
		c.Error("invalid_request_error", "conversation_already_has_active_response", "one is under way", "")
		c.Begin("resp_1", "item_1")
		c.Done("resp_1", "item_1", "completed")
		c.Expect("conversation.item.create")
		c.Expect("response.create")
		c.Begin("resp_2", "item_2")
		c.Done("resp_2", "item_2", "completed")
	})
	s.AddMessage("Ada has joined.")
	run(t, s)
	await(t, w.used)
	s.AddMessage("Bob has joined.")
	await(t, w.used)
}

func TestBetaNamesAreUnderstood(t *testing.T) {
	t.Parallel()
	all := make(chan struct{})
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Raw(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`)
		c.Raw(`{"type":"conversation.item.created","item":{"id":"f","type":"function_call","name":"browse","call_id":"c","arguments":""}}`)
		c.Raw(`{"type":"response.function_call_arguments.done","item_id":"f","call_id":"c","arguments":"{}"}`)
		c.Raw(`{"type":"response.audio.delta","response_id":"r","item_id":"i","delta":"AAAA"}`)
		c.Raw(`{"type":"response.audio_transcript.done","response_id":"r","item_id":"i","transcript":"hi"}`)
		c.Raw(`{"type":"response.done","response":{"id":"r","status":"completed"}}`)
		c.Expect("conversation.item.create")
		c.Expect("response.create")
		close(all)
	})
	called := make(chan string, 1)
	s.use(func(_ context.Context, name string, _ json.RawMessage) string {
		called <- name
		return "ok"
	})
	run(t, s)
	check.Equal(t, "called", await(t, called), "browse")
	check.Equal(t, "said", await(t, w.said), "hi")
	check.Equal(t, "packets", count(t, await(t, w.speak)), 1)
	await(t, all)
}

func TestWhatCannotGoOnEndsTheSessionAndSaysWhy(t *testing.T) {
	t.Parallel()
	refuse := func(status int) llmtest.RealtimeCall {
		return llmtest.RealtimeCall{Status: status, Body: "sk-secret is wrong"}
	}
	told := func(code string) llmtest.RealtimeCall {
		return llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Error("invalid_request_error", code, "the key sk-secret is none", "")
			c.AwaitClose()
		}}
	}
	for name, c := range map[string]struct {
		call llmtest.RealtimeCall
		kind llm.ErrorKind
	}{
		"wrong key":           {refuse(http.StatusUnauthorized), llm.ErrAuth},
		"no such model":       {refuse(http.StatusNotFound), llm.ErrNotFound},
		"no such request":     {refuse(http.StatusBadRequest), llm.ErrRejected},
		"wrong key, told":     {told("invalid_api_key"), llm.ErrAuth},
		"no such model, told": {told("model_not_found"), llm.ErrNotFound},
		"a session refused":   {told("invalid_value"), llm.ErrRejected},
		"no credit":           {told("insufficient_quota"), llm.ErrRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := session(llmtest.NewRealtimeServer(t, c.call))
			err := s.Run(t.Context(), s.on)
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Hint == "" {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is told: %v", err)
			}
		})
	}
	t.Run("no address", func(t *testing.T) {
		t.Parallel()
		var e *llm.Error
		if err := (&realtime.Session{BaseURL: "::"}).Run(t.Context(), newTold()); !errors.As(err, &e) ||
			e.Kind != llm.ErrRejected {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		s := &realtime.Session{BaseURL: "http://127.0.0.1:1", MinWait: time.Millisecond, MaxOutage: 50 * time.Millisecond}
		var e *llm.Error
		if err := s.Run(t.Context(), newTold()); !errors.As(err, &e) || e.Kind != llm.ErrUnavailable {
			t.Errorf("got %v", err)
		}
	})
}

func TestFailuresThatPassAreToldAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	srv := llmtest.NewRealtimeServer(t,
		llmtest.RealtimeCall{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"0"}}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Raw("garbage")
			c.Raw(`{"no":"type"}`)
			c.Raw(`{"type":"response.output_audio.delta","item_id":"x","delta":"%%%"}`)
			c.Raw(`{"type":"response.done"}`)
			c.Raw(`{"type":"error"}`)
			c.Raw(`{"type":"something.new"}`)
			c.Error("server_error", "oops", "it hurts", "")
			c.Raw(`{"type":"response.created","response":{"id":"resp_1"}}`)
			c.Failed("resp_1", "rate_limit_error", "rate_limit_exceeded")
			c.Begin("resp_2", "item_2")
			c.Done("resp_2", "item_2", "completed")
			c.AwaitClose()
		}})
	s, w := session(srv)
	run(t, s)
	var got []llm.ErrorKind
	for range 4 {
		got = append(got, await(t, w.trouble).Kind)
	}
	check.Diff(t, "kind", got,
		[]llm.ErrorKind{llm.ErrRateLimited, llm.ErrUnavailable, llm.ErrUnavailable, llm.ErrRateLimited})
	await(t, w.used)
}

// FuzzEvents gives a session that is set up whatever a server may send; it must go on.
func FuzzEvents(f *testing.F) {
	for _, e := range []string{
		`{"type":"response.created","response":{"id":"r"}}`,
		`{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"AAAA"}`,
		`{"type":"response.function_call_arguments.done","call_id":"c","name":"n","arguments":"{}"}`,
		`{"type":"conversation.item.added","item":{"id":"i","type":"message","role":"user","content":[null]}}`,
		`{"type":"response.done","response":{"id":"r","status":"failed","output":[{"type":"function_call"}],"usage":{}}}`,
		`{"type":"error","error":{"code":"conversation_already_has_active_response"}}`,
		`{"type":"input_audio_buffer.speech_started"}`, `null`, `[]`, `{"type":7}`,
	} {
		f.Add(e, e)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var ended atomic.Bool
		srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Raw(first)
			c.Raw(second)
			c.Raw(`{"type":"response.output_audio_transcript.done","item_id":"last","transcript":"the end of it"}`)
			c.AwaitClose()
		}}, llmtest.RealtimeCall{Status: 401})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s := &realtime.Session{BaseURL: srv.URL(), MinWait: time.Millisecond}
		last := untilLast{newTold(), func() {
			ended.Store(true)
			cancel()
		}}
		if err := s.Run(ctx, last); err == nil && !ended.Load() {
			t.Error("the last event was not taken")
		}
	})
}

// untilLast waits for the last answer.
type untilLast struct {
	*told

	end func()
}

func (u untilLast) Answered(text string) {
	if text == "the end of it" {
		u.end()
	}
}
