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

// operatorName is the name of the operator in answers, as others and models read it.
const operatorName = "the operator"

// maxReason is the number of characters kept of a reason.
const maxReason = 200

// presenceLinger is how long people count as present after their last page closed: pages reload and connections
// break.
const presenceLinger = 10 * time.Second

// presence tracks who can be asked questions. The zero value is ready to use.
type presence struct {
	mu      sync.Mutex
	readers map[string]*pageReader // by account; "" stands for operators without one
	tasks   map[string]bool        // tasks whose followers answer questions
}

// pageReader is a person who has the page open, or had it recently.
type pageReader struct {
	who   visitor
	pages int       // number of open page streams
	left  time.Time // when the page was last requested, or its last stream closed
}

func (p *pageReader) isThere() bool { return p.pages > 0 || time.Since(p.left) < presenceLinger }

// reader returns the entry of v and drops those of people who have left. The caller holds the lock.
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

// addPage counts an open page of v until leave is called.
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

// pageRequested notes that v has requested the page, whose stream will follow.
func (a *presence) pageRequested(v visitor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reader(v).left = time.Now()
}

// addFollower notes that the follower of a task answers its questions, until end is called.
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

// serves reports whether someone who may answer q is present.
func (a *presence) serves(q approval.Question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.readers {
		// Only the person who asked for a private task can approve its actions. Others than operators are asked in
		// Discord.
		mayAllow := p.who.role == RoleOperator && !q.Private || q.Private && p.who.mayRead(questionOrigin(q))
		if mayAllow && p.isThere() {
			return true
		}
	}
	return a.tasks[q.Task]
}

// followQuestions sends questions to readers until the server closes.
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

// questionOrigin returns the origin of a question's task.
func questionOrigin(q approval.Question) sessions.Origin {
	return sessions.Origin{
		Kind: sessions.OriginKind(q.Source), Guild: q.Guild, Channel: q.Channel, User: q.User, UserName: q.UserName,
		Private: q.Private,
	}
}

// pending returns the questions that v may answer, of one task or of all for "".
func (s *Server) pending(task string, v visitor) []approval.Question {
	out := []approval.Question{}
	for _, q := range s.Questions.Pending() {
		if at := questionOrigin(q); (task == "" || q.Task == task) && v.mayAct(at) {
			out = append(out, shownQuestion(q, v.mayRead(at)))
		}
	}
	return out
}

// question broadcasts an event of the approval queue. The operator sees the questions of all origins.
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

// listQuestions lists the unanswered questions.
func (s *Server) listQuestions(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.pending("", visitorOf(r)))
}

// answerQuestion answers a question. The first answer counts.
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
		return refuse(http.StatusForbidden, "that was asked privately: only the person who asked for it can allow it; you "+
			"can say no")
	case !v.mayAct(at) && (in.Allow || q.User != v.id && !s.anyoneMayStop()):
		return refuse(http.StatusForbidden, "only who asked for the task, or somebody who may manage messages there, can "+
			"answer that")
	}
	if in.Allow && v.role < RoleOperator {
		if _, err := s.originAt(r.Context(), v, at); err != nil {
			return err
		}
	}
	answer := approval.Answer{Allowed: in.Allow, ForSession: in.ForSession, Text: in.Text, By: v.byName(), ByID: v.id}
	if in.Reason != "" && !in.Allow {
		answer = approval.Answer{Reason: untrusted.CleanLine(in.Reason, maxReason)}
	}
	err := s.Questions.Answer(id, answer)
	if err != nil && !errors.Is(err, approval.ErrNotPending) {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return writeResult(w, http.StatusOK, "answer the question", map[string]bool{"ok": true}, err)
}
