package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// taskLister lists tasks. A *sessions.Manager implements it.
type taskLister interface {
	Tasks(ctx context.Context, q sessions.TaskQuery) ([]sessions.TaskRecord, error)
}

// modelSource returns models by name. A *ModelFinder implements it.
type modelSource interface {
	Find(ctx context.Context, name string) (llm.Model, error)
}

// Approver asks people for approval on behalf of the agent loop and the proxy, as configured.
type Approver struct {
	Approvals *approval.Queue
	Settings  SettingsSource
	Callers   ToolCallers
	Tasks     taskLister
	Models    modelSource // of the model that judges unclear actions; nil asks none
}

// Ask implements [browseagent.Consent].
func (k *Approver) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	question := questionFor(t.Origin)
	question.Task, question.Session, question.Profile = t.ID, s.ID, s.Profile
	put := func(q approval.Question) (approval.Answer, error) { return k.Approvals.Ask(ctx, q) }
	return k.approveClasses(ctx, q, question, t, put)
}

// approveClasses asks about what the rules do not decide. An action of several classes needs an answer for each, the
// most serious first, unknown classes included. question tells whom to ask; put asks them.
func (k *Approver) approveClasses(
	ctx context.Context, q sessions.Question, question approval.Question, t sessions.Task,
	put func(approval.Question) (approval.Answer, error),
) (string, error) {
	question.Text, question.Detail = q.Text, q.Detail
	classes := slices.DeleteFunc(orderClasses(q.Classes), func(c approval.Class) bool {
		return c == approval.ClassLeave && !k.Settings.Current().Approval.IsOutsideSites(q.TargetHost)
	})
	// Refuse what the settings refuse before asking about the other classes: people would take their approval for the
	// whole action.
	slices.SortStableFunc(classes, func(a, b approval.Class) int {
		refused := map[bool]int{true: -1}
		return cmp.Compare(refused[k.Approvals.Rule(a) == approval.RuleRefuse],
			refused[k.Approvals.Rule(b) == approval.RuleRefuse])
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
			// Advice never spares the question for an action with another class.
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

// orderClasses returns the classes of an action, the most serious first and unknown ones before all others.
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

// ownWordsSuffice reports whether the prompt of a task counts as a person's approval of a literal action. It does
// only if the person typed it. In front of others it does not for irreversible actions, about which the others may
// have a say. A saved login belongs to the operator, so the prompt suffices only if it came from the operator.
func ownWordsSuffice(t sessions.Task, c approval.Class) bool {
	switch {
	case !t.Typed:
		return false
	case c == approval.ClassLogin && t.Origin.Kind != sessions.FromTerminal && t.Origin.Kind != sessions.FromDashboard:
		return false
	}
	return t.Origin.Guild == "" ||
		slices.Contains([]approval.Class{
			approval.ClassSubmit, approval.ClassSend, approval.ClassUnclear,
			approval.ClassLeave,
		}, c)
}

// questionFor returns a question for the people of a task.
func questionFor(o sessions.Origin) approval.Question {
	return approval.Question{
		Source: string(o.Kind), Guild: o.Guild, Channel: o.Channel, User: o.User,
		UserName: o.UserName, Private: o.Private,
	}
}

// ApproveHost asks whether a profile's browser may reach a new host. It asks the people of the only task that uses
// the profile, and the operator. If there are several tasks and one is private, it asks nobody. An error means no.
func (k *Approver) ApproveHost(ctx context.Context, profile, host, why string) (forSession bool, err error) {
	list, err := k.runningTasks(ctx)
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(r sessions.TaskRecord) bool { return r.Profile != profile })
	// With several tasks it is unknown which one asked: the words of a private one must not be shown to the others.
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

// runningTasks returns the tasks that run now.
func (k *Approver) runningTasks(ctx context.Context) ([]sessions.TaskRecord, error) {
	return k.Tasks.Tasks(ctx, sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskRunning}})
}

// newApprover returns an approver with the current settings.
func (a *Server) newApprover() *Approver {
	return &Approver{
		Approvals: &approval.Queue{
			Rule: func(c approval.Class) approval.Rule {
				return approval.Rule(a.Settings.Current().Approval.Rule(string(c)))
			},
			Wait:   func() time.Duration { return a.Settings.Current().Approval.Wait },
			Logger: a.logger,
		},
		Settings: a.Settings, Models: a.models,
	}
}

// CheckDownloadSource checks the address of a download. What a page has generated itself is allowed.
func (a *Server) CheckDownloadSource(address string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme == "data" || scheme == "blob" {
		return nil
	}
	return a.gate.CheckWithoutDNS(address)
}
