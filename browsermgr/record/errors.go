package record

import (
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"
)

// PageError is an exception that the page did not catch, or a promise whose rejection it did not handle.
type PageError struct {
	Message   string `json:"message"`
	Name      string `json:"name,omitempty"`
	Stack     string `json:"stack,omitempty"`
	Timestamp string `json:"timestamp"` // ISO 8601
}

func (e PageError) size() int { return len(e.Message) + len(e.Name) + len(e.Stack) + 100 }

// thrown is what is used of Runtime.exceptionThrown.
type thrown struct {
	Timestamp float64 `json:"timestamp"`
	Details   struct {
		Text      string        `json:"text"`
		Exception *remoteObject `json:"exception"`
	} `json:"exceptionDetails"`
}

func (r *Recorder) exception(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p thrown
	if !ev.Decode(&p) {
		return
	}
	e := p.read()
	r.mu.Lock()
	l := r.tabs[t]
	if l == nil {
		r.mu.Unlock()
		return
	}
	l.errors.add(e)
	watchers := r.watchers
	r.mu.Unlock()
	publish(watchers, Notice{Tab: t, Frame: f, Error: &e})
}

// errorName is how the description of an error object begins, before its message.
var errorName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$.]*$`) })

func (p thrown) read() PageError {
	e := PageError{Timestamp: stamp(fromMillis(p.Timestamp))}
	o := p.Details.Exception
	if o == nil || o.Subtype != "error" {
		e.Message = p.Details.Text
		if o != nil {
			e.Message = o.text()
		}
		e.Message = cut(e.Message)
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
	e.Message, e.Stack = cut(e.Message), cut(o.Description)
	return e
}

// Errors returns the tab's uncaught errors, oldest first. With clear they are forgotten afterwards.
func (r *Recorder) Errors(t *page.Tab, clear bool) []PageError {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.tabs[t]; l != nil {
		return append([]PageError{}, l.errors.read(clear)...)
	}
	return []PageError{}
}
