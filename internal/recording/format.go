package recording

import (
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"clank/llm"
	"clank/sessions"
)

// FormatVersion is the version of the format.
const FormatVersion = 1

// The names of the parts of a bundle.
const (
	entriesFile = "run.jsonl"
	imageDir    = "pictures"
)

// EntryKind says what an [Entry] tells.
type EntryKind string

// The kinds of entry. Which field is set stands with it.
const (
	KindBegin    EntryKind = "begin"    // Begin: a backend takes up the task. A second one goes on with it
	KindTools    EntryKind = "tools"    // Tools, once for each set
	KindMessage  EntryKind = "message"  // Message, once; calls name it by its number
	KindCall     EntryKind = "call"     // Call: a model was asked for an answer
	KindTurn     EntryKind = "turn"     // Turn: a model that works a screen was asked
	KindSnapshot EntryKind = "snapshot" // Snapshot: the state of the page, as the backend saw it
	KindAct      EntryKind = "act"      // Act: the browser did something
	KindStep     EntryKind = "step"     // Step
	KindEnd      EntryKind = "end"      // End: the backend is done
)

// Entry is one line of a bundle.
type Entry struct {
	Kind     EntryKind      `json:"kind"`
	At       time.Time      `json:"at"`
	Millis   float64        `json:"ms,omitempty"` // how long it took
	Begin    *RunStart      `json:"begin,omitempty"`
	Tools    *ToolSet       `json:"tools,omitempty"`
	Message  *llm.Message   `json:"message,omitempty"` // pictures by name, see [imageType]
	Call     *ModelCall     `json:"call,omitempty"`
	Turn     *ScreenTurn    `json:"turn,omitempty"`
	Snapshot *PageSnapshot  `json:"snapshot,omitempty"`
	Act      *BrowserAction `json:"act,omitempty"`
	Step     *sessions.Step `json:"step,omitempty"` // pictures by name
	End      *RunEnd        `json:"end,omitempty"`
}

// RunStart says what a run is a run of.
type RunStart struct {
	Format   int               `json:"format"`
	Task     sessions.Task     `json:"task"`
	Runtime  string            `json:"runtime"`
	Session  string            `json:"session"`
	URL      string            `json:"url,omitempty"` // where the session's page was
	Versions map[string]string `json:"versions,omitempty"`
	Settings map[string]any    `json:"settings,omitempty"`
	Places   map[string]string `json:"places,omitempty"` // names people use for addresses
}

// ToolSet is a set of tools that a model was offered.
type ToolSet struct {
	Hash  string     `json:"hash"`
	Tools []llm.Tool `json:"tools"`
}

// ModelCall is one question to a model and its answer.
type ModelCall struct {
	Model     string         `json:"model"`
	Purpose   string         `json:"purpose,omitempty"` // of [llm.Account]
	Caps      llm.Caps       `json:"caps"`
	System    *string        `json:"system,omitempty"` // nil = as in the call before
	Messages  []int          `json:"messages"`         // numbers of message entries, from 0
	Tools     string         `json:"tools,omitempty"`  // hash
	MaxTokens int            `json:"max_tokens,omitempty"`
	Reply     *llm.Message   `json:"reply,omitempty"`
	Stop      llm.StopReason `json:"stop,omitempty"`
	Usage     llm.Usage      `json:"usage,omitzero"`
	Error     *ModelFailure  `json:"error,omitempty"`
}

// ModelFailure tells why a model gave no answer.
type ModelFailure struct {
	Kind llm.ErrorKind `json:"kind,omitempty"`
	Text string        `json:"text"`
}

// ScreenTurn is one turn of a model that works a screen. Input and Answer are those of
// computeruse.Conversation, pictures by name.
type ScreenTurn struct {
	Model  string          `json:"model"`
	Input  json.RawMessage `json:"input"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  *ModelFailure   `json:"error,omitempty"`
}

// PageSnapshot is the state of a page in lines with refs.
type PageSnapshot struct {
	Interactive bool   `json:"interactive,omitempty"`
	Same        bool   `json:"same,omitempty"` // Text is as in the snapshot before
	Text        string `json:"text,omitempty"`
	Error       string `json:"error,omitempty"`
}

// BrowserAction is one thing that the browser was told to do. What it was told stands with the step.
type BrowserAction struct {
	What  string   `json:"what"` // open, text, screenshot or a kind of action
	Notes []string `json:"notes,omitempty"`
	Error string   `json:"error,omitempty"`
}

// RunEnd says how a backend came to its end.
type RunEnd struct {
	Error   string `json:"error,omitempty"` // why there is no answer
	Dropped int    `json:"dropped,omitempty"`
	Full    bool   `json:"full,omitempty"` // the run was larger than a bundle may be: what came last is left out, but for its steps
}

// runIDPattern matches what may name a bundle.
var runIDPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })
