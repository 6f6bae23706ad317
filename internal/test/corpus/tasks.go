package corpus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"clank/sessions"
)

// Task is a task on a site of its own. A Task is used once, because its site records what was done.
type Task struct {
	Name   string
	Site   http.Handler
	Prompt string // what a person would ask for
	Steps  []Step // that complete the task, from the page at "/"
	// Check returns what is not as expected after the steps; nil if everything is. Pages may need a moment, so call
	// it repeatedly.
	Check func(ctx context.Context, p TaskPage) error
}

// TaskPage is the part of a browser window that [Task.Check], [FindRef] and [FindBox] need; browsermgr.Window
// implements it.
type TaskPage interface {
	Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error)
	Snapshot(ctx context.Context, o sessions.SnapshotOptions) (text string, err error)
}

// Verb is the kind of a [Step].
type Verb string

// Verbs, with the fields they use.
const (
	Click       Verb = "click"        // Name, Held
	DoubleClick Verb = "double click" // Name
	RightClick  Verb = "right click"  // Name
	Hover       Verb = "hover"        // Name
	Type        Verb = "type"         // Name, Text: replaces the field's value
	Press       Verb = "press"        // Text: a key
	Choose      Verb = "choose"       // Text: an option of the list Name
	Drag        Verb = "drag"         // Name, To
	ClickAt     Verb = "click at"     // Name, Points[0]
	DragAt      Verb = "drag at"      // Name, Points
	Wheel       Verb = "wheel"        // Name; Points[0] is the distance
	Bottom      Verb = "bottom"       // scroll to the end of the page
	WaitFor     Verb = "wait for"     // Text
	Accept      Verb = "accept"       // the dialog, with Text for a prompt
	Back        Verb = "back"
	CloseTab    Verb = "close tab"
)

// Step is one action of a person. Elements are identified by their accessible names, which are unique on their page.
type Step struct {
	Verb   Verb
	Name   string
	Text   string
	To     string
	Held   string       // a key to hold down
	Points [][2]float64 // CSS pixels from the upper left corner of the element
}

// All returns new instances of all tasks.
func All() []Task {
	return append(pageTasks(), siteTasks()...)
}

// taskSite is the server side of a task.
type taskSite struct {
	*http.ServeMux

	mu    sync.Mutex
	notes []string
}

// newTaskSite serves pages by path: their title is the path, their body is given. A page can report something to the
// site by requesting /note with a value t.
func newTaskSite(pages map[string]string) *taskSite {
	s := &taskSite{ServeMux: http.NewServeMux()}
	for path, body := range pages {
		s.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { writePage(w, r, body) })
	}
	s.HandleFunc("/note", func(w http.ResponseWriter, r *http.Request) {
		s.record(r.FormValue("t"))
		writePage(w, r, "<p>Noted</p>")
	})
	return s
}

// writePage writes a page. {far} in its body is replaced by this server's address under another host name.
func writePage(w http.ResponseWriter, r *http.Request, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, port, _ := strings.Cut(r.Host, ":")
	fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>%s</title><link rel=icon href=data:,><script>const note = "+
		"(t) => fetch('/note?t=' + encodeURIComponent(t))</script>%s",
		r.URL.Path, strings.ReplaceAll(body, "{far}", "http://localhost:"+port))
}

// post records the values of a form sent to path, in the order of fields, and shows after.
func (s *taskSite) post(path string, fields []string, after string) {
	s.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		values := make([]string, len(fields))
		for i, name := range fields {
			values[i] = r.FormValue(name)
		}
		s.record(path + " " + strings.Join(values, ", "))
		writePage(w, r, after)
	})
}

func (s *taskSite) record(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

// recordedExactly checks that the site has recorded exactly these values, in this order.
func (s *taskSite) recordedExactly(want ...string) func(context.Context, TaskPage) error {
	return func(context.Context, TaskPage) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if got, want := strings.Join(s.notes, "; "), strings.Join(want, "; "); got != want {
			return fmt.Errorf("the site was told %q, want %q", got, want)
		}
		return nil
	}
}

// textContains checks that the current page's text contains want.
func textContains(want string) func(context.Context, TaskPage) error {
	return func(ctx context.Context, p TaskPage) error {
		notes, err := p.Act(ctx, "evaluate", map[string]any{"fn": "document.body.innerText"})
		if err == nil && !strings.Contains(strings.Join(notes, " "), want) {
			err = fmt.Errorf("the page shows %q, want %q in it", notes, want)
		}
		return err
	}
}

// bothChecks combines two checks.
func bothChecks(a, b func(context.Context, TaskPage) error) func(context.Context, TaskPage) error {
	return func(ctx context.Context, p TaskPage) error { return errors.Join(a(ctx, p), b(ctx, p)) }
}

func clickStep(name string) Step { return Step{Verb: Click, Name: name} }

func typeStep(name, text string) Step { return Step{Verb: Type, Name: name, Text: text} }

func pressSteps(keys ...string) []Step {
	steps := make([]Step, len(keys))
	for i, key := range keys {
		steps[i] = Step{Verb: Press, Text: key}
	}
	return steps
}

func waitStep(text string) Step { return Step{Verb: WaitFor, Text: text} }
