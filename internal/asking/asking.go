// Package asking puts the questions that browsers, proxy and tools have to the people who may answer them, as the settings have
// it. The desk itself, with its rules and its silence, is package consent.
package asking

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"clank/consent"
	"clank/sessions"
	"clank/settings"
)

// Asker lets the agent loop and the proxy ask people at the desk, as the settings
// have it.
type Asker struct {
	Desk     *consent.Desk
	Settings func() settings.Settings
	Speakers Speakers
	Running  func(ctx context.Context) ([]sessions.Record, error) // tasks at work
}

// Ask implements [browseagent.Consent].
func (k *Asker) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	question := questionOf(t.Origin)
	question.Task, question.Session, question.Profile = t.ID, s.ID, s.Profile
	return k.decide(q, question, t, func(q consent.Question) (consent.Answer, error) { return k.Desk.Ask(ctx, q) })
}

// decide asks what the rules do not decide. Where an action is of several classes, each has its question, the weightiest
// first; a class that nobody knows has one too. question says who is asked; put asks them.
func (k *Asker) decide(q sessions.Question, question consent.Question, t sessions.Task, put func(consent.Question) (consent.Answer, error)) (string, error) {
	question.Text, question.Detail = q.Text, q.Detail
	classes := slices.DeleteFunc(inOrder(q.Classes), func(c consent.Class) bool {
		return c == consent.Leave && !k.Settings().Asking.Away(q.To)
	})
	// What the settings refuse is refused before anybody is asked about the rest: a yes to that would be one to all.
	slices.SortStableFunc(classes, func(a, b consent.Class) int {
		refused := map[bool]int{true: -1}
		return cmp.Compare(refused[k.Desk.Rule(a) == consent.Refuse], refused[k.Desk.Rule(b) == consent.Refuse])
	})
	for _, class := range classes {
		question.Class, question.Origin = class, q.Origin
		if class == consent.Leave {
			question.Origin = q.To
		}
		switch rule := k.Desk.Rule(class); {
		case rule == consent.Allow:
		case rule == consent.Refuse:
		case slices.Contains(t.Allow, string(class)), q.Literal && inOwnWords(t.Origin, class), k.Desk.Granted(question.Session, class, question.Origin):
			continue
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

// inOrder are the classes of an action, the weightiest first, and those that are not known before all others.
func inOrder(classes []string) []consent.Class {
	var all []consent.Class
	for _, c := range classes {
		all = append(all, consent.Class(c))
	}
	slices.SortStableFunc(all, func(a, b consent.Class) int {
		return cmp.Compare(slices.Index(consent.Classes(), a), slices.Index(consent.Classes(), b))
	})
	return slices.Compact(all)
}

// inOwnWords reports whether steps that a person wrote themselves, word for word,
// are their consent already. Among others it is not for what cannot be taken back:
// there the others may have a say.
func inOwnWords(o sessions.Origin, c consent.Class) bool {
	return o.Guild == "" || slices.Contains([]consent.Class{consent.Submit, consent.Send, consent.Leave}, c)
}

// questionOf is a question to those of a task.
func questionOf(o sessions.Origin) consent.Question {
	return consent.Question{Door: string(o.Kind), Guild: o.Guild, Channel: o.Channel, User: o.User, UserName: o.UserName, Private: o.Private}
}

// AskHost asks whether a profile's browser may reach a host for the first time. The
// people of the task at work are asked, if it is the only one, and the operator; if
// it may be that of a private task among several, nobody is. An error is a no.
func (k *Asker) AskHost(ctx context.Context, profile, host, why string) (forSession bool, err error) {
	list, err := k.Running(ctx)
	if err != nil {
		return false, err
	}
	// Of several nobody knows which it is: the words of a private one are not shown to the others.
	private := slices.ContainsFunc(list, func(r sessions.Record) bool { return r.Origin.Private })
	q := consent.Question{Session: "profile " + profile, Private: private}
	if len(list) == 1 {
		q = questionOf(list[0].Origin)
		q.Task, q.Session = list[0].ID, list[0].SessionID
		if slices.Contains(list[0].Allow, string(consent.Host)) {
			return false, nil
		}
	}
	q.Class, q.Profile, q.Origin, q.Detail = consent.Host, profile, host, why
	q.Text = "Reach " + strconv.QuoteToASCII(host) + " for the first time"
	answer, err := k.Desk.Ask(ctx, q)
	return answer.ForSession, err
}
