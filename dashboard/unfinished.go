package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/cancel"
	"clank/internal/atomicfile"
	"clank/sessions"
)

// unfinishedTasks collects the tasks that a shutdown interrupts and the next start continues. The zero value is ready
// to use.
type unfinishedTasks struct {
	mu   sync.Mutex
	list []sessions.Continuation
}

// add lets the next start continue a task, unless its requester waits for the answer in a terminal, which will be
// gone.
func (u *unfinishedTasks) add(rec sessions.TaskRecord) {
	if rec.State != sessions.TaskInterrupted || rec.Origin.Kind == sessions.FromTerminal {
		return
	}
	kept := rec.Continue()
	if strings.Contains(kept.Prompt, sessions.SecretMask) { // it cannot begin without its password, which is not kept
		return
	}
	u.keep(kept)
}

// save writes the tasks to a file, if there are any and file is not empty.
func (u *unfinishedTasks) save(file string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if file == "" || len(u.list) == 0 {
		return nil
	}
	data, err := json.Marshal(u.list)
	if err == nil {
		err = atomicfile.Write(file, data)
	}
	if err != nil {
		return fmt.Errorf("keep the tasks that are to go on: %w", err)
	}
	return nil
}

// ForgetUnfinished removes the tasks for whose origin forget returns true from a file that Close has written.
func ForgetUnfinished(file string, forget func(sessions.Origin) bool) error {
	list, err := readUnfinished(file)
	if err != nil {
		return err
	}
	u := unfinishedTasks{list: slices.DeleteFunc(list, func(t sessions.Continuation) bool { return forget(t.Origin) })}
	if len(u.list) < len(list) {
		err = os.Remove(file)
	}
	return errors.Join(err, u.save(file))
}

// readUnfinished reads such a file, which may not exist.
func readUnfinished(file string) (list []sessions.Continuation, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tasks that are to go on: %w", err)
	}
	return list, nil
}

// continueUnfinished continues the unfinished tasks of the last run, once.
func (s *Server) continueUnfinished() error {
	if s.UnfinishedFile == "" {
		return nil
	}
	list, err := readUnfinished(s.UnfinishedFile)
	if err == nil && list != nil {
		err = os.Remove(s.UnfinishedFile)
	}
	if err != nil {
		return err
	}
	for _, t := range list {
		s.launch(func(life context.Context) {
			if err := s.continueTask(life, t); err != nil && life.Err() == nil {
				s.Logger.Warn("a task of the last run does not go on", "session", t.Session, "error", err)
			}
		})
	}
	return nil
}

const (
	originTries = 30 // retries of looking up a person: clank may not be connected to Discord yet
	originPause = 2 * time.Second
)

// continueTask continues a task with the current rights of its person.
func (s *Server) continueTask(ctx context.Context, t sessions.Continuation) (err error) {
	from := t.Origin
	for try := 0; from.Kind == sessions.FromDiscord; try++ {
		if from, err = s.Accounts.Origin(ctx, t.Origin); err == nil {
			break
		}
		if try == originTries {
			return err
		}
		if why := cancel.Sleep(ctx, originPause); why != nil {
			s.unfinished.keep(t)
			return why
		}
	}
	_, err = s.begin(ctx, t.Task(from), false)
	return err
}

// keep lets the next start continue a task that could not be continued yet.
func (u *unfinishedTasks) keep(t sessions.Continuation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, t)
}
