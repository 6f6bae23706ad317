package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// Approver lets the agent loop and the proxy ask people at the desk, as the settings have it.
type Approver struct {
	Approvals    *approval.Queue
	Settings     func() settings.Settings
	Callers      ToolCallers
	RunningTasks func(ctx context.Context) ([]sessions.TaskRecord, error) // tasks at work
	// Model returns the model of that name, to be asked about acts that are unclear; nil asks none.
	Model func(ctx context.Context, name string) (llm.Model, error)
}

// Ask implements [browseagent.Consent].
func (k *Approver) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	question := questionFor(t.Origin)
	question.Task, question.Session, question.Profile = t.ID, s.ID, s.Profile
	put := func(q approval.Question) (approval.Answer, error) { return k.Approvals.Ask(ctx, q) }
	return k.approveClasses(ctx, q, question, t, put)
}

// approveClasses asks what the rules do not decide. Where an action is of several classes, each has its question, the
// weightiest first; a class that nobody knows has one too. question says who is asked; put asks them.
func (k *Approver) approveClasses(
	ctx context.Context, q sessions.Question, question approval.Question, t sessions.Task,
	put func(approval.Question) (approval.Answer, error),
) (string, error) {
	question.Text, question.Detail = q.Text, q.Detail
	classes := slices.DeleteFunc(orderClasses(q.Classes), func(c approval.Class) bool {
		return c == approval.ClassLeave && !k.Settings().Approval.IsOutsideSites(q.TargetHost)
	})
	// What the settings refuse is refused before anybody is asked about the rest: a yes to that would be one to all.
	slices.SortStableFunc(classes, func(a, b approval.Class) int {
		refused := map[bool]int{true: -1}
		return cmp.Compare(refused[k.Approvals.Rule(a) == approval.RuleRefuse], refused[k.Approvals.Rule(b) == approval.RuleRefuse])
	})
	for _, class := range classes {
		question.Class, question.Origin = class, q.Origin
		if class == approval.ClassLeave {
			question.Origin = q.TargetHost
		}
		switch rule := k.Approvals.Rule(class); {
		case rule == approval.RuleAllow:
		case rule == approval.RuleRefuse:
		case slices.Contains(t.Allow, string(class)), q.Literal && ownWordsSuffice(t, class), k.Approvals.Granted(question):
			continue
		case isAdvised(rule) && class == approval.ClassUnclear && len(classes) == 1:
			// What is known for more is never spared.
			harmless, hint := k.advise(ctx, question)
			if harmless {
				continue
			}
			if hint != "" {
				question.Text += " (a model takes it for: " + hint + ")"
			}
		}
		answer, err := put(question)
		if err != nil {
			return "", err
		}
		if answer.By != "" {
			return answer.String(), nil
		}
	}
	return "", nil
}

// orderClasses returns the classes of an action, the weightiest first, and those that are not known before all others.
func orderClasses(classes []string) []approval.Class {
	var all []approval.Class
	for _, c := range classes {
		all = append(all, approval.Class(c))
	}
	slices.SortStableFunc(all, func(a, b approval.Class) int {
		return cmp.Compare(slices.Index(approval.Classes(), a), slices.Index(approval.Classes(), b))
	})
	return slices.Compact(all)
}

// ownWordsSuffice reports whether the words of a task, followed to the letter, are a person's consent already. They
// are only if the person typed them. Among others they are not for what cannot be taken back: there the others may
// have a say. A kept login is the operator's, so they are for it only at the operator's own doors.
func ownWordsSuffice(t sessions.Task, c approval.Class) bool {
	switch {
	case !t.Typed:
		return false
	case c == approval.ClassLogin && t.Origin.Kind != sessions.FromTerminal && t.Origin.Kind != sessions.FromDashboard:
		return false
	}
	return t.Origin.Guild == "" || slices.Contains([]approval.Class{approval.ClassSubmit, approval.ClassSend, approval.ClassUnclear, approval.ClassLeave}, c)
}

// questionFor returns a question to those of a task.
func questionFor(o sessions.Origin) approval.Question {
	return approval.Question{Source: string(o.Kind), Guild: o.Guild, Channel: o.Channel, User: o.User, UserName: o.UserName, Private: o.Private}
}

// ApproveHost asks whether a profile's browser may reach a host for the first time. The
// people of the task that works in the profile are asked, if it is the only one, and the operator; if
// it may be that of a private task among several, nobody is. An error is a no.
func (k *Approver) ApproveHost(ctx context.Context, profile, host, why string) (forSession bool, err error) {
	list, err := k.RunningTasks(ctx)
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(r sessions.TaskRecord) bool { return r.Profile != profile })
	// Of several nobody knows which it is: the words of a private one are not shown to the others.
	private := slices.ContainsFunc(list, func(r sessions.TaskRecord) bool { return r.Origin.Private })
	q := approval.Question{Session: "profile " + profile, Private: private}
	if len(list) == 1 {
		q = questionFor(list[0].Origin)
		q.Task, q.Session = list[0].ID, list[0].SessionID
		if slices.Contains(list[0].Allow, string(approval.ClassHost)) {
			return false, nil
		}
	}
	q.Class, q.Profile, q.Origin, q.Detail = approval.ClassHost, profile, host, why
	q.Text = fmt.Sprintf("Reach %+q for the first time", host)
	answer, err := k.Approvals.Ask(ctx, q)
	return answer.ForSession, err
}

// newApprover makes who asks people, as the settings have it now.
func (a *Server) newApprover() *Approver {
	return &Approver{
		Approvals: &approval.Queue{
			Rule: func(c approval.Class) approval.Rule {
				return approval.Rule(a.Settings.Current().Approval.Rule(string(c)))
			},
			Wait:   func() time.Duration { return a.Settings.Current().Approval.Wait },
			Logger: a.logger,
		},
		Settings: a.Settings.Current,
		Model:    func(ctx context.Context, name string) (llm.Model, error) { return a.models.Find(ctx, name) },
		RunningTasks: func(ctx context.Context) ([]sessions.TaskRecord, error) {
			return a.Sessions.Tasks(ctx, sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskRunning}})
		},
	}
}

// CheckDownloadSource judges where a download comes from. What a page made itself it may offer.
func (a *Server) CheckDownloadSource(address string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme == "data" || scheme == "blob" {
		return nil
	}
	return a.gate.CheckWithoutDNS(address)
}
