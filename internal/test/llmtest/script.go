package llmtest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/llm"
)

// Turn makes the answer to one request. It runs on the server's goroutine, so a turn that keeps state guards it.
type Turn func(Request) Reply

// Request is one call as the server saw it: the wire format read back into the
// vocabulary of package llm, so that a turn does not care which API was used.
type Request struct {
	llm.Request

	Path   string // "/v1/responses" or "/v1/chat/completions"
	Model  string
	Stream bool
	Header http.Header
	Body   []byte // as it came

	Arrived  time.Time // when its header was read
	Received time.Time // when the last byte of its body was read
	Sent     time.Time // when the last byte of the answer so far was written; zero if none
	Ended    time.Time // when the server was done with it; zero if it is not
	Gone     bool      // the client went away before the answer was complete
}

// ToolText returns everything that the model was told by its tools.
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

// LastText returns what the model was told last: the text of the last tool result or user text of the
// conversation, "" if there is none.
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

// Reply is what the model says, in the order reasoning, text, screen calls, calls.
type Reply struct {
	Reasoning *Reasoning
	Text      string
	Refusal   string
	Screen    []ScreenCall // calls of the Responses API's computer tool
	Calls     []Call
	Usage     *llm.Usage // nil: the server tells none
	Finish    string     // "length" or "content_filter"; "": as the content implies
	Events    []string   // data of events to send as they are, instead of all of the above; not validated
	Fault     Fault
}

// Reasoning is a reasoning item of the Responses API; chat completions carry the summary as reasoning_content.
type Reasoning struct {
	Summary   string
	Encrypted string
}

// Call is a tool call. Arguments are sent as they are, be they JSON or not. An empty ID gets one made.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// Say answers with text.
func Say(text string) Turn {
	return Answer(Reply{Text: text, Usage: &llm.Usage{InputTokens: 10, OutputTokens: 2}})
}

// Use answers with one tool call.
func Use(name, arguments string) Turn {
	return Answer(Reply{Calls: []Call{{Name: name, Arguments: arguments}}, Usage: &llm.Usage{InputTokens: 10, OutputTokens: 5}})
}

// Answer answers with r, whatever was asked.
func Answer(r Reply) Turn { return func(Request) Reply { return r } }

// Fail answers with an HTTP status and an error object.
func Fail(status int, code, message string) Turn {
	return Answer(Reply{Fault: Fault{Status: status, Code: code, Message: message}})
}

// SayWithFault answers with text and the given fault.
func SayWithFault(text string, f Fault) Turn { return Answer(Reply{Text: text, Fault: f}) }

// Fault is how an answer goes wrong. Its zero value is a good answer.
type Fault struct {
	Status  int               // answer with this HTTP status…
	Code    string            // …and an error object with this code
	Message string            // …and this message
	Header  map[string]string // extra header fields
	Body    *string           // a body to send as it is, instead of anything else

	At          int             // how many events go out before Hang, Cut or StreamError
	Hang        Hang            // fall silent…
	Release     <-chan struct{} // …until this closes; nil: until the client or the server goes
	Cut         Cut             // end the stream early, once released if Release is set
	StreamError string          // send an error object with this message, then end the stream
	Trickle     time.Duration   // pause after each byte of the body
	Comments    int             // keep-alive comments before each event
}

// Hang says where a server falls silent.
type Hang int

// The places.
const (
	NoHang        Hang = iota
	BeforeHeaders      // no byte is sent
	InStream           // headers and [Fault.At] events are sent
)

// Cut says how a stream ends early, after [Fault.At] events.
type Cut int

// The ways.
const (
	NoCut    Cut = iota
	CutClean     // the body ends as if it were complete
	CutClose     // the connection closes inside the body
	CutReset     // the connection is reset
)

// Script is what a model says turn by turn, and can be set anew while servers play it: its Next is for
// [Server.SetFallback]. It is safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	turns []Turn
}

// Set replaces the turns that are left.
func (s *Script) Set(turns []Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
}

// Next is the [Turn] that plays the next one, or says "that was all".
func (s *Script) Next(req Request) Reply {
	s.mu.Lock()
	turn := Say("that was all")
	if len(s.turns) > 0 {
		turn, s.turns = s.turns[0], s.turns[1:]
	}
	s.mu.Unlock()
	return turn(req)
}
