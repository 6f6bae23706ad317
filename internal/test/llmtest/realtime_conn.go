package llmtest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// realtimeTimeout bounds Expect.
const realtimeTimeout = 20 * time.Second

// RealtimeConn is one connection, for the function that controls it. Errors are recorded by the server and end the
// function.
type RealtimeConn struct {
	Ignore func(RealtimeEvent) bool // reports which events [RealtimeConn.Expect] skips; nil skips none

	server *RealtimeServer
	ws     *websocket.Conn
	ctx    func() context.Context
	events chan RealtimeEvent
	ids    int

	mu    sync.Mutex
	audio []byte
}

// read receives the client's events.
func (c *RealtimeConn) read(ctx context.Context) {
	defer close(c.events)
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		e, err := decodeRealtimeEvent(data)
		if err == nil {
			err = checkRealtimeEvent("Client", e, data)
		}
		if err != nil {
			c.server.problem("%v", err)
			continue
		}
		if e.Type() == "input_audio_buffer.append" {
			pcm, err := base64.StdEncoding.DecodeString(e.Text("audio"))
			if err != nil || len(pcm)%2 != 0 {
				c.server.problem("sound that is none: %d bytes, %v", len(pcm), err)
			}
			c.mu.Lock()
			c.audio = append(c.audio, pcm...)
			c.mu.Unlock()
			continue
		}
		select {
		case c.events <- e:
		default:
			c.server.problem("too many events")
			return
		}
	}
}

// Audio returns the audio received so far: PCM, 16-bit, little-endian, 24 kHz.
func (c *RealtimeConn) Audio() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.audio...)
}

// Expect returns the next event that is neither audio nor ignored, which must have the given type.
func (c *RealtimeConn) Expect(kind string) RealtimeEvent {
	timer := time.NewTimer(realtimeTimeout)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				c.fail("the client has gone; expected %s", kind)
			}
			if c.Ignore != nil && c.Ignore(e) {
				continue
			}
			if e.Type() != kind {
				c.fail("got %v, expected %s", e, kind)
			}
			return e
		case <-timer.C:
			c.fail("nothing came; expected %s", kind)
		}
	}
}

// AwaitClose waits until the client has closed the connection, and returns the events it sent before.
func (c *RealtimeConn) AwaitClose() []RealtimeEvent {
	timer := time.NewTimer(realtimeTimeout)
	defer timer.Stop()
	var all []RealtimeEvent
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				return all
			}
			all = append(all, e)
		case <-timer.C:
			c.fail("the client stays")
		}
	}
}

func (c *RealtimeConn) fail(format string, args ...any) {
	c.server.problem(format, args...)
	c.ws.CloseNow() //nolint:errcheck // the connection has already failed
	runtime.Goexit()
}

// Send checks and sends an event; it adds an id if there is none.
func (c *RealtimeConn) Send(e RealtimeEvent) {
	if e["event_id"] == nil {
		c.ids++
		e["event_id"] = "event_" + strconv.Itoa(c.ids)
	}
	data, err := json.Marshal(e)
	if err == nil {
		err = checkRealtimeEvent("Server", e, data)
	}
	if err != nil {
		c.fail("%v", err)
	}
	c.Raw(string(data))
}

// Raw sends a message unchanged. A closed connection is not an error.
func (c *RealtimeConn) Raw(message string) {
	_ = c.ws.Write(c.ctx(), websocket.MessageText, []byte(message))
}

// Drop cuts the connection once the client has read what was sent, which would be lost with it otherwise.
func (c *RealtimeConn) Drop() {
	_ = c.ws.Ping(c.ctx()) // or the client has gone
	_ = c.ws.CloseNow()
}

// Open sends the initial events of the API, and returns the client's session configuration.
func (c *RealtimeConn) Open() RealtimeEvent {
	c.Send(RealtimeEvent{
		"type":    "session.created",
		"session": map[string]any{"type": "realtime", "object": "realtime.session", "id": "sess_1", "model": "gpt-realtime"},
	})
	update := c.Expect("session.update")
	session, _ := update["session"].(map[string]any)
	c.Send(RealtimeEvent{"type": "session.updated", "session": mergedSession(session)})
	return update
}

// mergedSession returns a session in the server's form.
func mergedSession(session map[string]any) map[string]any {
	out := map[string]any{"object": "realtime.session", "id": "sess_1"}
	maps.Copy(out, session)
	return out
}

// Begin starts a response with an output item.
func (c *RealtimeConn) Begin(response, item string) {
	c.Send(RealtimeEvent{"type": "response.created", "response": responseState(response, "in_progress")})
	c.Send(RealtimeEvent{
		"type": "response.output_item.added", "response_id": response, "output_index": 0,
		"item": messageItem(item, "in_progress"),
	})
	c.Send(RealtimeEvent{"type": "conversation.item.added", "item": messageItem(item, "in_progress")})
}

// OutputAudio sends PCM audio of an item.
func (c *RealtimeConn) OutputAudio(response, item string, pcm []byte) {
	c.Send(RealtimeEvent{
		"type": "response.output_audio.delta", "response_id": response, "item_id": item, "output_index": 0,
		"content_index": 0,
		"delta":         base64.StdEncoding.EncodeToString(pcm),
	})
}

// OutputTranscript sends the complete transcript of an item.
func (c *RealtimeConn) OutputTranscript(response, item, text string) {
	base := func(kind string) RealtimeEvent {
		return RealtimeEvent{"type": kind, "response_id": response, "item_id": item, "output_index": 0, "content_index": 0}
	}
	delta, done := base("response.output_audio_transcript.delta"), base("response.output_audio_transcript.done")
	delta["delta"], done["transcript"] = text, text
	c.Send(delta)
	c.Send(done)
}

// Done ends a response.
func (c *RealtimeConn) Done(response, item, status string) {
	if item != "" {
		c.Send(RealtimeEvent{
			"type": "response.output_audio.done", "response_id": response, "item_id": item,
			"output_index": 0, "content_index": 0,
		})
	}
	r := responseState(response, status)
	r["usage"] = map[string]any{
		"total_tokens": 150, "input_tokens": 100, "output_tokens": 50,
		"input_token_details":  map[string]any{"cached_tokens": 20, "text_tokens": 40, "audio_tokens": 60},
		"output_token_details": map[string]any{"text_tokens": 10, "audio_tokens": 40},
	}
	c.Send(RealtimeEvent{"type": "response.done", "response": r})
}

// FunctionCall makes the model call a tool, in a response that has started.
func (c *RealtimeConn) FunctionCall(response, item, call, name, arguments string) {
	c.Send(RealtimeEvent{"type": "conversation.item.added", "item": map[string]any{
		"id": item, "object": "realtime.item", "type": "function_call", "status": "in_progress", "call_id": call,
		"name": name, "arguments": "",
	}})
	c.Send(RealtimeEvent{
		"type": "response.function_call_arguments.done", "response_id": response, "item_id": item, "output_index": 0,
		"call_id": call, "name": name, "arguments": arguments,
	})
}

// UserTranscript sends the transcript of a user's speech.
func (c *RealtimeConn) UserTranscript(item, text string) {
	c.Send(RealtimeEvent{"type": "conversation.item.added", "item": map[string]any{
		"id": item, "object": "realtime.item", "type": "message", "role": "user", "status": "completed",
		"content": []any{map[string]any{"type": "input_audio"}},
	}})
	c.Send(RealtimeEvent{
		"type": "conversation.item.input_audio_transcription.completed", "item_id": item, "content_index": 0,
		"transcript": text,
		"usage":      map[string]any{"type": "duration", "seconds": 1},
	})
}

// Spoke reports speech from and to a time, in ms of the received audio, and waits for the response.
func (c *RealtimeConn) Spoke(item string, from, to int) {
	c.Send(RealtimeEvent{"type": "input_audio_buffer.speech_started", "audio_start_ms": from, "item_id": item})
	c.Send(RealtimeEvent{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": to, "item_id": item})
	c.Send(RealtimeEvent{"type": "input_audio_buffer.committed", "previous_item_id": nil, "item_id": item})
}

// Speech reports that speech has started.
func (c *RealtimeConn) Speech(item string) {
	c.Send(RealtimeEvent{"type": "input_audio_buffer.speech_started", "audio_start_ms": 0, "item_id": item})
}

// Error sends an error; about is the id of the client's event that caused it, if any.
func (c *RealtimeConn) Error(kind, code, message, about string) {
	e := map[string]any{"type": kind, "code": code, "message": message, "event_id": nil, "param": nil}
	if about != "" {
		e["event_id"] = about
	}
	c.Send(RealtimeEvent{"type": "error", "error": e})
}

// Failed ends a response that failed.
func (c *RealtimeConn) Failed(response, kind, code string) {
	r := responseState(response, "failed")
	r["status_details"] = map[string]any{"type": "failed", "error": map[string]any{"type": kind, "code": code}}
	c.Send(RealtimeEvent{"type": "response.done", "response": r})
}

func responseState(id, status string) map[string]any {
	return map[string]any{"id": id, "object": "realtime.response", "status": status, "output": []any{}}
}

func messageItem(id, status string) map[string]any {
	return map[string]any{
		"id": id, "object": "realtime.item", "type": "message", "role": "assistant", "status": status,
		"content": []any{},
	}
}
