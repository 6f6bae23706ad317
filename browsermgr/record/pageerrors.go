package record

import (
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
)

// PageError is an exception that the page did not catch, or a promise whose rejection it did not handle.
type PageError struct {
	Message   string `json:"message"`
	Name      string `json:"name,omitempty"`
	Stack     string `json:"stack,omitempty"`
	Timestamp string `json:"timestamp"` // ISO 8601
}

func (e PageError) size() int { return len(e.Message) + len(e.Name) + len(e.Stack) + 100 }

// thrownException is what is used of Runtime.exceptionThrown.
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

// errorName is how the description of an error object begins, before its message.
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

// Errors returns the tab's uncaught errors, oldest first. With clear they are forgotten afterwards.
func (r *Recorder) Errors(t *page.Tab, clear bool) []PageError {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.tabs[t]; l != nil {
		return append([]PageError{}, l.errors.read(clear)...)
	}
	return []PageError{}
}
