package corpus

import (
	"context"
	"fmt"
	_ "image/jpeg" // pictures as they are sent
	_ "image/png"
	"sync"

	"clank/browsermgr"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

// Backend is one way to do tasks.
type Backend struct {
	Name    string
	Runtime string
	// lacks says why a step is beyond it by its nature; "" if it is not.
	lacks func(Step) string
	part  int // of the corpus, see Takes
	open  func(ctx context.Context, task Task, url string, w *windowTracker) (openBackend, error)
}

// Unsupported says why a task is beyond the backend by its nature; "" if it is not.
func (b Backend) Unsupported(task Task) string {
	if b.lacks == nil {
		return ""
	}
	return unsupportedSteps(b.lacks, task)
}

func unsupportedSteps(lacks func(Step) string, task Task) string {
	for _, s := range task.Steps {
		if why := lacks(s); why != "" {
			return why
		}
	}
	return ""
}

// partCount is how many parts the corpus has where not each backend does all of it.
const partCount = 4

// InPart says whether the n-th task of the corpus is in the backend's part of it. Every task is in the parts of two
// backends: one that works elements and one that sees the screen, or, where that takes a mouse, two of these.
func (b Backend) InPart(n int, task Task) bool {
	if n%partCount == b.part {
		return true
	}
	return b.lacks == nil && unsupportedSteps(mouseReason, task) != "" && (n+1)%partCount == b.part
}

// Backends returns all backends: the local loop in four dialects and with the built-in model, then computer use.
func Backends() []Backend {
	return append(elementBackends(), screenBackends()...)
}

// openBackend is a backend with a model server of its own.
type openBackend struct {
	sessions.Backend
	prompt string
	close  func() (problems []string) // what was wrong with what the server was asked
}

// modelServer is what the servers of all dialects have.
type modelServer interface {
	BaseURL() string
	SetFallback(turn llmtest.Turn)
	Problems() []string
	Close()
}

// taskPrompt returns what the person says.
func taskPrompt(task Task, url string) string {
	return fmt.Sprintf("%s The site is at %s", task.Prompt, url)
}

// windowTracker is a browser as both loops want it. It knows the window that was opened last.
type windowTracker struct {
	manager *browsermgr.Manager

	mu   sync.Mutex
	last *browsermgr.Window
}

// Open implements [sessions.Browser].
func (b *windowTracker) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, bool, error) {
	w, restored, err := b.manager.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL, Ephemeral: true})
	if err == nil {
		b.mu.Lock()
		b.last = w
		b.mu.Unlock()
	}
	return w, restored, err
}

// page returns the window that was opened last; nil if there is none.
func (b *windowTracker) page() *browsermgr.Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Close closes the page of a session.
func (b *windowTracker) Close(ctx context.Context, key string) error {
	if w, ok := b.manager.Lookup(key); ok {
		return w.Close(ctx)
	}
	return nil
}
