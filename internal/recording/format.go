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

// Names of the parts of a bundle.
const (
	entriesFile = "run.jsonl"
	imageDir    = "pictures"
)

// EntryKind is the type of an [Entry].
type EntryKind string

// Kinds of entries, each with the field that it sets.
const (
	KindBegin    EntryKind = "begin"    // Begin: a backend starts the task; a second one continues it
	KindTools    EntryKind = "tools"    // Tools, once for each set
	KindMessage  EntryKind = "message"  // Message, once each; calls refer to it by number
	KindCall     EntryKind = "call"     // Call: a request to a model
	KindTurn     EntryKind = "turn"     // Turn: a request to a computer-use model
	KindSnapshot EntryKind = "snapshot" // Snapshot: the state of the page as the backend saw it
	KindAct      EntryKind = "act"      // Act: an action of the browser
	KindStep     EntryKind = "step"     // Step
	KindEnd      EntryKind = "end"      // End: the backend has finished
)

// Entry is one line of a bundle.
type Entry struct {
	Kind     EntryKind      `json:"kind"`
	At       time.Time      `json:"at"`
	Millis   float64        `json:"ms,omitempty"` // duration
	Begin    *RunStart      `json:"begin,omitempty"`
	Tools    *ToolSet       `json:"tools,omitempty"`
	Message  *llm.Message   `json:"message,omitempty"` // images by name, see [imageType]
	Call     *ModelCall     `json:"call,omitempty"`
	Turn     *ScreenTurn    `json:"turn,omitempty"`
	Snapshot *PageSnapshot  `json:"snapshot,omitempty"`
	Act      *BrowserAction `json:"act,omitempty"`
	Step     *sessions.Step `json:"step,omitempty"` // images by name
	End      *RunEnd        `json:"end,omitempty"`
}

// RunStart describes the task of a run.
type RunStart struct {
	Format   int               `json:"format"`
	Task     sessions.Task     `json:"task"`
	Runtime  string            `json:"runtime"`
	Session  string            `json:"session"`
	URL      string            `json:"url,omitempty"` // address of the session's page
	Versions map[string]string `json:"versions,omitempty"`
	Settings map[string]any    `json:"settings,omitempty"`
	Places   map[string]string `json:"places,omitempty"` // named pages and their addresses
}

// ToolSet is a set of tools offered to a model.
type ToolSet struct {
	Hash  string     `json:"hash"`
	Tools []llm.Tool `json:"tools"`
}

// ModelCall is one request to a model and its answer.
type ModelCall struct {
	Model     string         `json:"model"`
	Purpose   string         `json:"purpose,omitempty"` // of [llm.Account]
	Caps      llm.Caps       `json:"caps"`
	System    *string        `json:"system,omitempty"` // nil if unchanged since the previous call
	Messages  []int          `json:"messages"`         // numbers of message entries; the first is 0
	Tools     string         `json:"tools,omitempty"`  // hash
	MaxTokens int            `json:"max_tokens,omitempty"`
	Reply     *llm.Message   `json:"reply,omitempty"`
	Stop      llm.StopReason `json:"stop,omitempty"`
	Usage     llm.Usage      `json:"usage,omitzero"`
	Error     *ModelFailure  `json:"error,omitempty"`
}

// ModelFailure is the reason why a model gave no answer.
type ModelFailure struct {
	Kind llm.ErrorKind `json:"kind,omitempty"`
	Text string        `json:"text"`
}

// ScreenTurn is one turn of a computer-use model. Input and Answer are those of computeruse.Conversation, with images
// by name.
type ScreenTurn struct {
	Model  string          `json:"model"`
	Input  json.RawMessage `json:"input"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  *ModelFailure   `json:"error,omitempty"`
}

// PageSnapshot is the state of a page as lines with refs.
type PageSnapshot struct {
	Interactive bool   `json:"interactive,omitempty"`
	Same        bool   `json:"same,omitempty"` // Text is the same as in the previous snapshot
	Text        string `json:"text,omitempty"`
	Error       string `json:"error,omitempty"`
}

// BrowserAction is one action of the browser. Its input is in the step.
type BrowserAction struct {
	What  string   `json:"what"` // open, text, screenshot or a kind of action
	Notes []string `json:"notes,omitempty"`
	Error string   `json:"error,omitempty"`
}

// RunEnd describes how a backend finished.
type RunEnd struct {
	Error   string `json:"error,omitempty"` // why there is no answer
	Dropped int    `json:"dropped,omitempty"`
	// the bundle reached its size limit, so later entries other than steps are missing
	Full bool `json:"full,omitempty"`
}

// runIDPattern matches valid names of bundles.
var runIDPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })
