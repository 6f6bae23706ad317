package llmtest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/llm"
)

// Turn returns the reply to a request. It runs on the server's goroutine, so turns with state must guard it.
type Turn func(Request) Reply

// Request is a received call, converted to package llm's types, so that turns are independent of the API.
type Request struct {
	llm.Request

	Path   string // "/v1/responses" or "/v1/chat/completions"
	Model  string
	Stream bool
	Header http.Header
	Body   []byte // unchanged

	Arrived  time.Time // when its header was received
	Received time.Time // when its body was received
	Sent     time.Time // when the last byte of the reply so far was written; zero if none
	Ended    time.Time // when the server finished it; zero if it has not
	Gone     bool      // the client disconnected before the reply was complete
}

// ToolText returns the text of all tool results.
func (r Request) ToolText() string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				b.WriteString(p.Result.Text + "\n")
			}
		}
	}
	return b.String()
}

// LastText returns the text of the last tool result or user message, "" if there is none.
func (r Request) LastText() string {
	for _, m := range slices.Backward(r.Messages) {
		for _, p := range slices.Backward(m.Parts) {
			if p.Result != nil && p.Result.Text != "" {
				return p.Result.Text
			}
			if p.Text != "" && m.Role == llm.RoleUser {
				return p.Text
			}
		}
	}
	return ""
}

// Reply is a model's reply, in the order reasoning, text, screen calls, calls.
type Reply struct {
	Reasoning *Reasoning
	Text      string
	Refusal   string
	Screen    []ScreenCall // calls of the Responses API's computer tool
	Calls     []Call
	Usage     *llm.Usage // nil if the server reports none
	Finish    string     // "length" or "content_filter"; "" derives it from the content
	Events    []string   // raw event data, instead of all of the above; not validated
	Fault     Fault
}

// Reasoning is a reasoning item of the Responses API; chat completions carry the summary as reasoning_content.
type Reasoning struct {
	Summary   string
	Encrypted string
}

// Call is a tool call. Arguments are sent unchanged, whether they are valid JSON or not. An empty ID is replaced by a
// new one.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// Say replies with text.
func Say(text string) Turn {
	return Answer(Reply{Text: text, Usage: &llm.Usage{InputTokens: 10, OutputTokens: 2}})
}

// Use replies with one tool call.
func Use(name, arguments string) Turn {
	return Answer(Reply{
		Calls: []Call{{Name: name, Arguments: arguments}},
		Usage: &llm.Usage{InputTokens: 10, OutputTokens: 5},
	})
}

// Answer replies with r to any request.
func Answer(r Reply) Turn { return func(Request) Reply { return r } }

// Fail replies with an HTTP status and an error object.
func Fail(status int, code, message string) Turn {
	return Answer(Reply{Fault: Fault{Status: status, Code: code, Message: message}})
}

// SayWithFault replies with text and a fault.
func SayWithFault(text string, f Fault) Turn { return Answer(Reply{Text: text, Fault: f}) }

// Fault is a fault of a reply. The zero value is none.
type Fault struct {
	Status  int               // reply with this HTTP status…
	Code    string            // …and an error object with this code
	Message string            // …and this message
	Header  map[string]string // extra header fields
	Body    *string           // a raw body instead of anything else

	At          int             // number of events sent before Hang, Cut or StreamError
	Hang        Hang            // stop sending…
	Release     <-chan struct{} // …until this is closed; nil means until the client or the server ends
	Cut         Cut             // end the stream early, after Release if that is set
	StreamError string          // send an error object with this message, then end the stream
	Trickle     time.Duration   // pause after each byte of the body
	Comments    int             // keep-alive comments before each event
}

// Hang is the point at which a server stops sending.
type Hang int

// Points of a reply.
const (
	NoHang        Hang = iota
	BeforeHeaders      // no byte is sent
	InStream           // headers and [Fault.At] events are sent
)

// Cut is how a stream ends early, after [Fault.At] events.
type Cut int

// Ways to end a stream.
const (
	NoCut    Cut = iota
	CutClean     // the body ends normally
	CutClose     // the connection closes inside the body
	CutReset     // the connection is reset
)

// Script is a sequence of turns that can be replaced while servers play it: use its Next with [Server.SetFallback].
// It is safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	turns []Turn
}

// Set replaces the remaining turns.
func (s *Script) Set(turns []Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
}

// Next is a [Turn] that plays the next one, or says "that was all".
func (s *Script) Next(req Request) Reply {
	s.mu.Lock()
	turn := Say("that was all")
	if len(s.turns) > 0 {
		turn, s.turns = s.turns[0], s.turns[1:]
	}
	s.mu.Unlock()
	return turn(req)
}
