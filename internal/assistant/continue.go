package assistant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/internal/untrusted"
	"clank/sessions"
)

const (
	noteSentText  = "Passed on to the running task. It is heard before the next step."
	noSessionText = "There is no session of yours here to go on with: it was closed, or forgotten after its time. Say " +
		"what to do, and a new one starts."
)

// sendNote passes the query to the task that is running in the session of a call, and reports whether there was one.
func (r *replyRun) sendNote(ctx context.Context, q browseInput) (o callResult, sent bool) {
	if q.SessionID == "" || len(r.turn.Files) > 0 { // files need a task of their own, which waits for its turn
		return callResult{}, false
	}
	_, err := r.assistant.Tasks.SendNote(ctx, q.SessionID, r.turn.Origin, q.Query)
	switch {
	case err == nil:
		return callResult{text: "A task runs in this session. It was told your query and takes it into account at its " +
				"next step. Its answer comes by itself: do not call again for it. Tell the person briefly that it was passed on."},
			true
	case errors.Is(err, sessions.ErrNotFound):
		return callResult{}, false
	}
	return refusedCall("not done: " + untrusted.CleanLine(err.Error(), maxReason)), true
}

// planWithoutModel decides without a model what to do with a message: pass it to a running task, resume the last
// session if that was asked for or it was used recently, or start a new one. If say is not empty it is the answer
// instead.
func (r *replyRun) planWithoutModel(ctx context.Context, prompt string) (q browseInput, say string, err error) {
	q = browseInput{Query: prompt}
	wanted, rest := AsksToContinue(prompt)
	s, ok := r.assistant.lastSession(ctx, r.turn.Origin)
	if ok && s.State == sessions.SessionRunning && len(r.turn.Files) == 0 && r.turn.subject() == "" {
		_, err := r.assistant.Tasks.SendNote(ctx, s.ID, r.turn.Origin, prompt)
		switch {
		case err == nil:
			return q, r.turn.Origin.Locale.T(noteSentText), nil
		case !errors.Is(err, sessions.ErrNotFound): // the task has just ended: the message becomes the next task
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

// continueWords matches requests to resume the last session, in all languages that have stop words.
var continueWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(?:please |bitte )?(?:continue|go on|carry on|keep going|resume|(?:mach(?:e)? )?weiter|fahr(?:e)? fort|continuez|continua|contin[uú]a|sigue|prosegui)(?:$|[\s,.:;!]+)`)
})

// goOnSite matches "go on" with a word after it, which is a place ("go on youtube") unless it is one of goOnWords.
var goOnSite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:please )?go on\s+([^\s,.:;!]+)`)
})

var goOnWords = []string{
	"and", "but", "by", "from", "in", "now", "please", "then", "there", "to", "until", "where",
	"with",
}

// AsksToContinue reports whether a prompt asks to resume earlier work, and returns the rest of it; an empty rest
// means to continue the task itself.
func AsksToContinue(prompt string) (wanted bool, rest string) {
	at := continueWords().FindStringIndex(prompt)
	site := goOnSite().FindStringSubmatch(prompt)
	if at == nil || site != nil && !slices.Contains(goOnWords, strings.ToLower(site[1])) {
		return false, ""
	}
	if rest := strings.TrimSpace(prompt[at[1]:]); rest != "" {
		return true, rest
	}
	return true, prompt
}
