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
	Tools     []llm.Tool // that the model has beside mouse and keyboard, where its vendor allows
	MaxTokens int        // upper bound of one answer; 0 leaves it to the model
	EndUser   string     // hashed id of the person served; may be empty
	Memory    json.RawMessage
}

// Conversation is one conversation. It is used by one goroutine at a time.
//
// Next tells the model what has happened since its last turn and blocks until its whole answer is there. When ctx ends
// it returns at once with [context.Cause] of ctx. Other failures are an [*llm.Error]; the conversation can go on after
// one: what was told is kept and told again with the next call.
//
// Memory is what Begin needs to go on, in another process even. Pictures that the model will not need again are not
// part of it.
type Conversation interface {
	Next(ctx context.Context, in Input) (Turn, error)
	Memory() (json.RawMessage, error)
}

// Input tells a model what it has to know at the beginning of a turn. Every [Call] and every tool call of the turn
// before is answered, in their order.
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

// maxURL is how many characters of a page's address are told.
const maxURL = 500

// Note says what the picture is of, in a line to stand before it.
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

// CallResult tells what became of a [Call]. A call without error was done whole.
type CallResult struct {
	CallID       string
	Text         string          // what it tells, such as where the cursor is; may be empty
	Image        *llm.Image      // what it shows beside the screen: a part of it, enlarged; usually nil
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
	Intent  string          // what the model says it is for; untrusted; may be empty
	Safety  []SafetyWarning // what a person must look at first
}

// SafetyWarning is a warning of the vendor about a [Call].
type SafetyWarning struct {
	ID      string `json:"id"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"` // untrusted
}
