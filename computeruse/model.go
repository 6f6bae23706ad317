package computeruse

import (
	"context"
	"encoding/json"
	"image"
	"strconv"
	"strings"

	"clank/internal/untrusted"
	"clank/llm"
)

// Model is a vendor's model that works a screen, ready to be asked. Its methods are safe for concurrent use.
type Model interface {
	// Name is "provider:model", as people write it in settings.
	Name() string
	// Fit is the size in which the model wants to see a screen of the given size; never larger than it, and of the same
	// shape.
	Fit(screen image.Point) image.Point
	// Begin begins a conversation, or continues the one that memory (of [Talk.Memory]) is of. It asks the vendor
	// nothing.
	Begin(b ConversationOptions) (Conversation, error)
}

// ConversationOptions begin a conversation.
type ConversationOptions struct {
	System    string
	Tools     []llm.Tool // offered in addition to mouse and keyboard, where the vendor allows
	MaxTokens int        // upper bound of one answer; 0 leaves it to the model
	EndUser   string     // hashed id of the end user; may be empty
	Memory    json.RawMessage
}

// Conversation is one conversation. It is not safe for concurrent use.
//
// Next tells the model what has happened since its last turn, and blocks until its answer is complete. When ctx ends it
// returns immediately with [context.Cause] of ctx. Other failures are an [*llm.Error], after which the conversation can
// continue: the input is kept and sent again with the next call.
//
// Memory is what Begin needs to continue the conversation, even in another process. It does not contain pictures that
// the model no longer needs.
type Conversation interface {
	Next(ctx context.Context, in Input) (Turn, error)
	Memory() (json.RawMessage, error)
}

// Input is what a model must know at the beginning of a turn. It answers every [Call] and every tool call of the
// previous turn, in order.
type Input struct {
	Says     []string // by the person: the task first, later what they say to it
	Outcomes []CallResult
	Results  []llm.ToolResult
	Shot     *Screenshot // the screen now; nil = it could not be seen
	// Final asks for an answer without calls, where the vendor knows a way to say so. Calls that come all the same are
	// not done.
	Final bool
	// MaxTokens bounds the answer in place of [ConversationOptions.MaxTokens]; 0 = that.
	MaxTokens int `json:",omitempty"`
}

// Outcome returns what became of a [Call].
func (in Input) Outcome(id string) (o CallResult, known bool) {
	for _, o := range in.Outcomes {
		if o.CallID == id {
			return o, true
		}
	}
	return o, false
}

// Result returns what a tool call came to.
func (in Input) Result(id string) (res llm.ToolResult, known bool) {
	for _, res := range in.Results {
		if res.ID == id {
			return res, true
		}
	}
	return res, false
}

// Screenshot is a picture of the screen in the size of [Model.Fit].
type Screenshot struct {
	Image llm.Image
	Size  image.Point
	URL   string // of the page
	N     int    // by which the model can name it; 0 = it has none
}

// maxURL is the maximum length, in characters, of page addresses shown to models.
const maxURL = 500

// Note returns a line about the picture to put before it.
func (s Screenshot) Note() string {
	at := strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, s.URL)
	note := "The screen now"
	if s.N > 0 {
		note += " (picture " + strconv.Itoa(s.N) + ")"
	}
	if at != "" {
		note += ", at " + untrusted.ShortenLine(at, maxURL)
	}
	return note + ":"
}

// CallResult is the result of a [Call]. A call without an error was done completely.
type CallResult struct {
	CallID       string
	Text         string          // its result, such as the position of the cursor; may be empty
	Image        *llm.Image      // an additional picture: an enlarged part of the screen; usually nil
	Err          string          // why it was not done, or only in part; "" = done
	Skipped      bool            // not tried, because a call before it failed
	Acknowledged []SafetyWarning // what a person has agreed to
}

// Turn is a model's answer. Without calls it is the last: Text is for the person.
type Turn struct {
	Calls     []Call
	Tools     []llm.ToolCall
	Text      string
	Reasoning string // readable summary, where the vendor gives one
	Stop      llm.StopReason
	Usage     llm.Usage
	// Notices are what the person should know about the conversation itself, such as that its vendor has lost the
	// earlier part.
	Notices []string
}

// Call is a batch of actions that are answered together. A vendor whose actions are answered one by one has one in
// each.
type Call struct {
	ID      string
	Actions []Action
	Intent  string          // the purpose that the model gives; untrusted; may be empty
	Safety  []SafetyWarning // what a person must look at first
}

// SafetyWarning is a warning of the vendor about a [Call].
type SafetyWarning struct {
	ID      string `json:"id"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"` // untrusted
}
