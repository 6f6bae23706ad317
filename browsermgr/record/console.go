package record

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// maxText bounds the text of one message or error, in characters.
const maxText = 16_000

// ConsoleEntry is a console message of the page or of Chromium (failed loads, violations).
type ConsoleEntry struct {
	Type      string   `json:"type"` // log, info, debug, warning, error, trace, …
	Text      string   `json:"text"`
	Timestamp string   `json:"timestamp"` // ISO 8601
	Location  Location `json:"location"`
}

// Location is a position in a script. Line and column start at 0.
type Location struct {
	URL          string `json:"url"`
	LineNumber   int    `json:"lineNumber"`
	ColumnNumber int    `json:"columnNumber"`
}

// consoleMessage is a console event, parsed only on demand since a page may log a lot.
type consoleMessage struct {
	params json.RawMessage // of the event
	entry  *ConsoleEntry   // instead of params, if the event was large
	log    bool            // the event is of the Log domain
}

// maxRawMessage is the size above which an event is parsed and truncated at once, in bytes.
const maxRawMessage = 32 << 10

func (m consoleMessage) size() int {
	if m.entry != nil {
		return len(m.entry.Text) + len(m.entry.Location.URL) + 100
	}
	return len(m.params)
}

func (m consoleMessage) toEntry() ConsoleEntry {
	if m.entry != nil {
		return *m.entry
	}
	ev := cdp.Event{Params: m.params}
	if m.log {
		return logEntry(ev)
	}
	return consoleCall(ev)
}

func (r *Recorder) handleConsole(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	m := consoleMessage{params: ev.Params, log: ev.Method == "Log.entryAdded"}
	if len(ev.Params) > maxRawMessage {
		entry := m.toEntry()
		m = consoleMessage{entry: &entry}
	}
	r.mu.Lock()
	l := r.tabs[t]
	if l == nil {
		r.mu.Unlock()
		return
	}
	l.console.add(m)
	watchers := r.watchers
	release := !m.log && l.holdsObjects()
	r.mu.Unlock()
	if release {
		f.Post(proto.RuntimeReleaseObjectGroup{ObjectGroup: "console"})
	}
	if len(watchers) > 0 {
		entry := m.toEntry()
		publishRecorded(watchers, Recorded{Tab: t, Frame: f, Console: &entry})
	}
}

// holdsObjects reports from time to time that Chromium should release logged objects, which it keeps while the console
// is observed.
func (l *tabLog) holdsObjects() bool {
	l.previews++
	return l.previews%100 == 0
}

// Console returns the tab's messages of at least this level; an empty level means all. Dropped counts those of all
// levels. With clear, all messages are then discarded.
func (r *Recorder) Console(t *page.Tab, level string, clear bool) Kept[ConsoleEntry] {
	var messages Kept[consoleMessage]
	r.mu.Lock()
	if l := r.tabs[t]; l != nil {
		messages = l.console.read(clear)
	}
	r.mu.Unlock()
	kept := Kept[ConsoleEntry]{[]ConsoleEntry{}, messages.Dropped}
	for _, m := range messages.Entries {
		if e := m.toEntry(); level == "" || typeRank(e.Type) >= typeRank(level) {
			kept.Entries = append(kept.Entries, e)
		}
	}
	return kept
}

// typeRank returns the severity of a message type.
func typeRank(kind string) int {
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "error":
		return 3
	case "warning", "warn":
		return 2
	case "debug":
		return 0
	}
	return 1
}

// consoleCall parses Runtime.consoleAPICalled.
func consoleCall(ev cdp.Event) ConsoleEntry {
	var p struct {
		Type       string         `json:"type"`
		Args       []remoteObject `json:"args"`
		Timestamp  float64        `json:"timestamp"`
		StackTrace struct {
			CallFrames []Location `json:"callFrames"`
		} `json:"stackTrace"`
	}
	_ = ev.Decode(&p) // on error, use what was parsed
	texts := make([]string, 0, len(p.Args))
	for _, arg := range p.Args {
		texts = append(texts, arg.text())
	}
	e := ConsoleEntry{
		Type: p.Type, Text: cutText(strings.Join(texts, " ")),
		Timestamp: formatTime(fromMillis(p.Timestamp)),
	}
	if len(p.StackTrace.CallFrames) > 0 {
		e.Location = p.StackTrace.CallFrames[0]
		e.Location.URL = cutText(RedactURL(e.Location.URL))
	}
	return e
}

// logEntry parses Log.entryAdded.
func logEntry(ev cdp.Event) ConsoleEntry {
	var p struct {
		Entry struct {
			Level      string  `json:"level"`
			Text       string  `json:"text"`
			Timestamp  float64 `json:"timestamp"`
			URL        string  `json:"url"`
			LineNumber int     `json:"lineNumber"`
		} `json:"entry"`
	}
	_ = ev.Decode(&p) // on error, use what was parsed
	kind := p.Entry.Level
	if kind == "verbose" {
		kind = "debug"
	}
	return ConsoleEntry{
		Type: kind, Text: cutText(p.Entry.Text), Timestamp: formatTime(fromMillis(p.Entry.Timestamp)),
		Location: Location{URL: cutText(RedactURL(p.Entry.URL)), LineNumber: p.Entry.LineNumber},
	}
}

// cutText truncates a text to maxText.
func cutText(s string) string {
	short, _ := truncateText(s, maxText)
	return short
}

// truncateText truncates a text to a number of characters and reports whether it did.
func truncateText(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i], true
		}
		n++
	}
	return s, false
}

// remoteObject holds the fields used of Runtime.RemoteObject.
type remoteObject struct {
	Type                string          `json:"type"`
	Subtype             string          `json:"subtype"`
	ClassName           string          `json:"className"`
	Value               json.RawMessage `json:"value"`
	UnserializableValue string          `json:"unserializableValue"`
	Description         string          `json:"description"`
	Preview             *objectPreview  `json:"preview"`
}

// objectPreview holds the fields used of Runtime.ObjectPreview.
type objectPreview struct {
	Subtype    string            `json:"subtype"`
	Overflow   bool              `json:"overflow"`
	Properties []previewProperty `json:"properties"`
	Entries    []json.RawMessage `json:"entries"`
}

type previewProperty struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Value   string `json:"value"`
}

// text formats the value as a console does, on one line if possible.
func (o remoteObject) text() string {
	var s string
	switch {
	case o.Type == "undefined":
		return "undefined"
	case o.UnserializableValue != "":
		return o.UnserializableValue
	case len(o.Value) > 0:
		if json.Unmarshal(o.Value, &s) == nil && o.Value[0] == '"' {
			return s
		}
		return string(o.Value)
	case o.Preview != nil && o.Subtype != "error" && len(o.Preview.Entries) == 0 && needsPreview(o.Preview.Subtype):
		return o.Preview.text(o.ClassName)
	}
	return o.Description
}

// needsPreview reports whether the preview says more than the description.
func needsPreview(subtype string) bool { return subtype == "" || subtype == "array" }

func (p *objectPreview) text(class string) string {
	var b strings.Builder
	array := p.Subtype == "array"
	if class != "" && class != "Object" && class != "Array" {
		b.WriteString(class + " ")
	}
	b.WriteString(map[bool]string{false: "{", true: "["}[array])
	for i, prop := range p.Properties {
		if i > 0 {
			b.WriteString(", ")
		}
		if !array {
			b.WriteString(prop.Name + ": ")
		}
		if prop.Value == "" && prop.Type != "string" {
			b.WriteString(prop.Type)
		}
		b.WriteString(prop.Value)
	}
	if p.Overflow {
		b.WriteString(", …")
	}
	b.WriteString(map[bool]string{false: "}", true: "]"}[array])
	return b.String()
}

// PageError is an uncaught exception or an unhandled promise rejection.
type PageError struct {
	Message   string `json:"message"`
	Name      string `json:"name,omitempty"`
	Stack     string `json:"stack,omitempty"`
	Timestamp string `json:"timestamp"` // ISO 8601
}

func (e PageError) size() int { return len(e.Message) + len(e.Name) + len(e.Stack) + 100 }

// thrownException holds the fields used of Runtime.exceptionThrown.
type thrownException struct {
	Timestamp float64 `json:"timestamp"`
	Details   struct {
		Text      string        `json:"text"`
		Exception *remoteObject `json:"exception"`
	} `json:"exceptionDetails"`
}

func (r *Recorder) handleException(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p thrownException
	if !ev.Decode(&p) {
		return
	}
	e := p.toPageError()
	r.mu.Lock()
	l := r.tabs[t]
	if l == nil {
		r.mu.Unlock()
		return
	}
	l.errors.add(e)
	watchers := r.watchers
	r.mu.Unlock()
	publishRecorded(watchers, Recorded{Tab: t, Frame: f, Error: &e})
}

// errorName matches the name at the beginning of an error's description.
var errorName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$.]*$`) })

func (p thrownException) toPageError() PageError {
	e := PageError{Timestamp: formatTime(fromMillis(p.Timestamp))}
	o := p.Details.Exception
	if o == nil || o.Subtype != "error" {
		e.Message = p.Details.Text
		if o != nil {
			e.Message = o.text()
		}
		e.Message = cutText(e.Message)
		return e
	}
	head, _, _ := strings.Cut(o.Description, "\n    at ")
	name, text, found := strings.Cut(head, ": ")
	switch {
	case found && errorName().MatchString(name):
		e.Name, e.Message = name, text
	case errorName().MatchString(head):
		e.Name = head
	default:
		e.Name, e.Message = o.ClassName, head
	}
	e.Message, e.Stack = cutText(e.Message), cutText(o.Description)
	return e
}

// Errors returns the tab's uncaught errors. With clear they are then discarded.
func (r *Recorder) Errors(t *page.Tab, clear bool) (kept Kept[PageError]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.tabs[t]; l != nil {
		kept = l.errors.read(clear)
	}
	return kept
}
