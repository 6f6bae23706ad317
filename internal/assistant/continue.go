package assistant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"clank/internal/untrusted"
	"clank/sessions"
)

const (
	noteSentText  = "Passed on to the running task. It is heard before the next step."
	noSessionText = "There is no session of yours here to go on with: it was closed, or forgotten after its time. Say what to do, and a new one starts."
)

// sendNote tells the task that runs in the session of a call what the call is for,
// and reports whether there was one.
func (r *replyRun) sendNote(ctx context.Context, q browseInput) (o callResult, told bool) {
	if q.SessionID == "" || len(r.turn.Files) > 0 { // files come with a task of their own, which waits for its turn
		return callResult{}, false
	}
	_, err := r.assistant.Tasks.SendNote(ctx, q.SessionID, r.turn.Origin, q.Query)
	switch {
	case err == nil:
		return callResult{text: "A task runs in this session. It was told your query and takes it into account at its next step. " +
			"Its answer comes by itself: do not call again for it. Tell the person briefly that it was passed on."}, true
	case errors.Is(err, sessions.ErrNotFound):
		return callResult{}, false
	}
	return refusedCall("not done: " + untrusted.CleanLine(err.Error(), maxReason)), true
}

// planWithoutModel decides, without a model, what is to be done with what somebody said: a
// running task is told, the last session is gone on with if that was asked for
// or it is fresh, or a new one starts. say is an answer instead.
func (r *replyRun) planWithoutModel(ctx context.Context, prompt string) (q browseInput, say string, err error) {
	q = browseInput{Query: prompt}
	wanted, rest := AsksToContinue(prompt)
	s, ok := r.assistant.lastSession(ctx, r.turn.Origin)
	if ok && s.State == sessions.SessionRunning && len(r.turn.Files) == 0 && r.turn.subject() == "" {
		_, err := r.assistant.Tasks.SendNote(ctx, s.ID, r.turn.Origin, prompt)
		switch {
		case err == nil:
			return q, r.turn.Origin.Locale.T(noteSentText), nil
		case !errors.Is(err, sessions.ErrNotFound): // it has just ended: what was said is the next task
			return q, "", fmt.Errorf("tell the running task: %w", err)
		}
	}
	switch {
	case wanted && !ok:
		return q, r.turn.Origin.Locale.T(noSessionText), nil
	case wanted:
		q.SessionID, q.Query = s.ID, rest
	case ok && r.assistant.recentlyUsed(s):
		q.SessionID = s.ID
	}
	return q, "", nil
}

// continueWords are the ways to ask for the last session, in the languages that
// stop words are known in.
var continueWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:please |bitte )?(?:continue|go on|carry on|keep going|resume|(?:mach(?:e)? )?weiter|fahr(?:e)? fort|continuez|continua|contin[uú]a|sigue|prosegui)(?:$|[\s,.:;!]+)`)
})

// AsksToContinue reports whether somebody asks to go on with what was, and with what:
// the words alone ask to go on with the task itself.
func AsksToContinue(prompt string) (wanted bool, rest string) {
	at := continueWords().FindStringIndex(prompt)
	if at == nil {
		return false, ""
	}
	if rest := strings.TrimSpace(prompt[at[1]:]); rest != "" {
		return true, rest
	}
	return true, prompt
}
