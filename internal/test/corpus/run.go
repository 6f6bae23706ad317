package corpus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/browsermgr"
	"clank/cancel"
	"clank/sessions"
)

// maxSteps is more than any task takes.
const maxSteps = 80

// Run does a task, whose site is at url, in a window of its own of m, and saves it in store. after is called with the
// window when the task has ended, before the window is closed; it says what is not as it must be. The error says what
// went wrong on the way.
func (b Backend) Run(
	ctx context.Context, m *browsermgr.Manager, store sessions.Store, task Task, url string, after func(*browsermgr.Window) error,
) (err error) {
	w := &windowTracker{manager: m}
	r, err := b.open(ctx, task, url, w)
	if err != nil {
		return fmt.Errorf("open %s: %w", b.Name, err)
	}
	defer func() {
		for _, p := range r.close() {
			err = errors.Join(err, fmt.Errorf("model server: %s", p))
		}
	}()
	manager := &sessions.Manager{
		Store: store, Backends: map[string]sessions.Backend{b.Runtime: r},
		DefaultRuntime: b.Runtime, Limits: func() sessions.Limits { return sessions.Limits{} }, Scopes: &cancel.Scopes{},
	}
	if err := manager.Open(ctx); err != nil {
		return fmt.Errorf("open the manager of sessions: %w", err)
	}
	defer func() { err = errors.Join(err, manager.Close(context.WithoutCancel(ctx))) }()
	var trouble []string
	record, err := manager.Run(ctx, sessions.Task{Prompt: r.prompt, MaxSteps: maxSteps, Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: task.Name}},
		func(e sessions.Event) {
			if e.Step != nil && e.Step.Phase == sessions.PhaseDone {
				trouble = append(trouble, fmt.Sprintf("%s: %s", e.Step.Label, e.Step.Text))
			}
		})
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	page := w.page()
	if page == nil {
		return fmt.Errorf("no window was opened: %s %s", record.Reason, record.Answer)
	}
	defer func() { err = errors.Join(err, page.Close(context.WithoutCancel(ctx))) }()
	if record.State != sessions.TaskDone {
		err = fmt.Errorf("the task is %s: %s %s", record.State, record.Reason, record.Answer)
	}
	err = errors.Join(err, after(page))
	if err != nil {
		err = fmt.Errorf("%w\nthe answer was %q after\n%s", err, record.Answer, strings.Join(trouble, "\n"))
	}
	return err
}
