// Package runs keeps what happened in a task as a bundle: its steps, what the
// model was asked and answered, the page states and pictures, and how long each
// took. [Recorder] writes bundles while tasks run, by standing around their
// backend, model and browser; [Open] reads them, from a directory or a zip.
//
// It decides nothing about a task, and it plays nothing back: that is
// runs/replay. What becomes a script is in runs/script.
//
// A bundle is a directory with run.jsonl, one [Entry] in each line in the order
// in which things happened, and pictures, named by the SHA-256 of what they
// hold. Lines are only ever added, so that a run whose program crashed is whole
// up to its last line; the one exception is a password that turns out to be one
// after it was written. What the program holds secret is not in it.
package runs

import (
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"clank/llm"
	"clank/sessions"
)

// Version is the version of the format.
const Version = 1

// The names of the parts of a bundle.
const (
	fileName   = "run.jsonl"
	pictureDir = "pictures"
)

// Kind says what an [Entry] tells.
type Kind string

// The kinds of entry. Which field is set stands with it.
const (
	KindBegin    Kind = "begin"    // Begin: a backend takes up the task. A second one goes on with it
	KindTools    Kind = "tools"    // Tools, once for each set
	KindMessage  Kind = "message"  // Message, once; calls name it by its number
	KindCall     Kind = "call"     // Call: a model was asked for an answer
	KindTurn     Kind = "turn"     // Turn: a model that works a screen was asked
	KindSnapshot Kind = "snapshot" // Snapshot: the state of the page, as the backend saw it
	KindAct      Kind = "act"      // Act: the browser did something
	KindStep     Kind = "step"     // Step
	KindEnd      Kind = "end"      // End: the backend is done
)

// Entry is one line of a bundle.
type Entry struct {
	Kind     Kind           `json:"kind"`
	At       time.Time      `json:"at"`
	Millis   float64        `json:"ms,omitempty"` // how long it took
	Begin    *Begin         `json:"begin,omitempty"`
	Tools    *Tools         `json:"tools,omitempty"`
	Message  *llm.Message   `json:"message,omitempty"` // pictures by name, see [Picture]
	Call     *Call          `json:"call,omitempty"`
	Turn     *Turn          `json:"turn,omitempty"`
	Snapshot *Snapshot      `json:"snapshot,omitempty"`
	Act      *Act           `json:"act,omitempty"`
	Step     *sessions.Step `json:"step,omitempty"` // pictures by name
	End      *End           `json:"end,omitempty"`
}

// Begin says what a run is a run of.
type Begin struct {
	Format   int               `json:"format"`
	Task     sessions.Task     `json:"task"`
	Runtime  string            `json:"runtime"`
	Session  string            `json:"session"`
	URL      string            `json:"url,omitempty"` // where the session's page was
	Versions map[string]string `json:"versions,omitempty"`
	Settings map[string]any    `json:"settings,omitempty"`
	Places   map[string]string `json:"places,omitempty"` // names people use for addresses
}

// Tools is a set of tools that a model was offered.
type Tools struct {
	Hash  string     `json:"hash"`
	Tools []llm.Tool `json:"tools"`
}

// Call is one question to a model and its answer.
type Call struct {
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
	Error     *Failure       `json:"error,omitempty"`
}

// Failure is why a model gave no answer.
type Failure struct {
	Kind llm.ErrorKind `json:"kind,omitempty"`
	Text string        `json:"text"`
}

// Turn is one turn of a model that works a screen. Input and Answer are those of
// computeruse.Talk, pictures by name.
type Turn struct {
	Model  string          `json:"model"`
	Input  json.RawMessage `json:"input"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// Snapshot is the state of a page in lines with refs.
type Snapshot struct {
	Interactive bool   `json:"interactive,omitempty"`
	Same        bool   `json:"same,omitempty"` // Text is as in the snapshot before
	Text        string `json:"text,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Act is one thing that the browser was told to do. What it was told stands with
// the step.
type Act struct {
	What  string   `json:"what"` // open, text, screenshot or a kind of action
	Notes []string `json:"notes,omitempty"`
	Error string   `json:"error,omitempty"`
}

// End says how a backend came to its end.
type End struct {
	Error   string `json:"error,omitempty"` // why there is no answer
	Dropped int    `json:"dropped,omitempty"`
	Full    bool   `json:"full,omitempty"` // the run was larger than a bundle may be: what came last is left out, but for its steps
}

// ids matches what may name a bundle.
var ids = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })
