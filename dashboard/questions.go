package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"clank/dashboard/api"
	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/approval"
)

// operatorName is who answers here, as other people and models read it.
const operatorName = "the operator"

// maxReason is how much of a reason is told, in characters.
const maxReason = 200

// presenceLinger is how long somebody who had the page open still counts as there: pages
// are loaded again, and connections break.
const presenceLinger = 10 * time.Second

// presence knows who is there to be asked. Its zero value is ready for use.
type presence struct {
	mu      sync.Mutex
	readers map[string]*pageReader // by account; "" are the operators without one
	tasks   map[string]bool        // those whose followers answer
}

// pageReader is a person who has the page open, or had it just now.
type pageReader struct {
	who   visitor
	pages int       // streams of the page that are open
	left  time.Time // when the page was last asked for, or one of them closed
}

func (p *pageReader) isThere() bool { return p.pages > 0 || time.Since(p.left) < presenceLinger }

// reader returns the entry of v, and forgets those who are gone. The lock is held.
func (a *presence) reader(v visitor) *pageReader {
	maps.DeleteFunc(a.readers, func(_ string, p *pageReader) bool { return !p.isThere() })
	p := a.readers[v.id]
	if p == nil {
		p = &pageReader{}
		if a.readers == nil {
			a.readers = map[string]*pageReader{}
		}
		a.readers[v.id] = p
	}
	p.who = v
	return p
}

// addPage counts a page of v until its result is called.
func (a *presence) addPage(v visitor) (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.reader(v)
	p.pages++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		p.pages--
		p.left = time.Now()
	}
}

// pageRequested notes that v has asked for the page: its stream is about to be opened.
func (a *presence) pageRequested(v visitor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reader(v).left = time.Now()
}

// addFollower notes that the follower of a task answers its questions, until its result is called.
func (a *presence) addFollower(task string) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = maps.Clone(a.tasks)
	if a.tasks == nil {
		a.tasks = map[string]bool{}
	}
	a.tasks[task] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.tasks, task)
	}
}

// serves reports whether somebody is there who can be asked q.
func (a *presence) serves(q approval.Question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.readers {
		// What was asked privately only the person who asked can allow. Others than operators are asked in Discord.
		mayAllow := p.who.role == RoleOperator && !q.Private || q.Private && p.who.mayRead(questionOrigin(q))
		if mayAllow && p.isThere() {
			return true
		}
	}
	return a.tasks[q.Task]
}

// followQuestions tells readers of questions for as long as the server lives.
func (s *Server) followQuestions() {
	f := s.Questions.Follow(s.presence.serves)
	s.launch(func(ctx context.Context) {
		defer f.Close()
		for {
			ev, err := f.Next(ctx)
			if err != nil {
				return
			}
			s.feed.question(ev)
		}
	})
}

// questionOrigin returns where the task of a question was asked for.
func questionOrigin(q approval.Question) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.OriginKind(q.Source), Guild: q.Guild, Channel: q.Channel, User: q.User, UserName: q.UserName, Private: q.Private,
	}
}

// pending returns the questions of a task, or all for "", that v may answer.
func (s *Server) pending(task string, v visitor) []approval.Question {
	out := []approval.Question{}
	for _, q := range s.Questions.Pending() {
		if at := questionOrigin(q); (task == "" || q.Task == task) && v.mayAct(at) {
			out = append(out, shownQuestion(q, v.mayRead(at)))
		}
	}
	return out
}

// question passes an event of the desk on. The operator sees those of all doors.
func (f *eventFeed) question(ev approval.Event) {
	fr := feedEvent{event: "question", task: ev.Question.Task, origin: questionOrigin(ev.Question)}
	fr.data, _ = json.Marshal(ev) // strings and times always marshal
	if ev.Question.Private {
		ev.Answer.Reason, ev.Answer.Text = "", ""
		ev.Question = shownQuestion(ev.Question, false)
		fr.others, _ = json.Marshal(ev)
	}
	f.send(fr)
}

// listQuestions lists the questions that wait for an answer.
func (s *Server) listQuestions(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.pending("", visitorOf(r)))
}

// answerQuestion answers one. The first answer counts.
func (s *Server) answerQuestion(w http.ResponseWriter, r *http.Request) error {
	var in api.AnswerRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	id, v := strings.ToLower(r.PathValue("id")), visitorOf(r)
	q, waits := s.Questions.Find(id)
	at := questionOrigin(q)
	switch {
	case !waits || !v.sight().Includes(at):
		return failed("answer the question", approval.ErrNotPending)
	case in.Allow && !v.mayRead(at):
		return refuse(http.StatusForbidden, "that was asked privately: only the person who asked for it can allow it; you can say no")
	case !v.mayAct(at) && (in.Allow || q.User != v.id && !s.anyoneMayStop()):
		return refuse(http.StatusForbidden, "only who asked for the task, or somebody who may manage messages there, can answer that")
	}
	if in.Allow && v.role < RoleOperator {
		if _, err := s.originAt(r.Context(), v, at); err != nil {
			return err
		}
	}
	answer := approval.Answer{Allowed: in.Allow, ForSession: in.ForSession, Text: in.Text, By: v.byName()}
	if in.Reason != "" && !in.Allow {
		answer = approval.Answer{Reason: untrusted.CleanLine(in.Reason, maxReason)}
	}
	err := s.Questions.Answer(id, answer)
	if err != nil && !errors.Is(err, approval.ErrNotPending) {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return writeResult(w, http.StatusOK, "answer the question", map[string]bool{"ok": true}, err)
}
