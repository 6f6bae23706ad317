package control

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"clank/browsermgr/page"
	"clank/browsermgr/page/intent"
	"clank/sessions"
)

// ApprovalHeader marks a request on behalf of a model. Its value is an opaque id of who may approve.
const ApprovalHeader = "X-Clank-Ask"

// classSafety is the approval class of what cannot be assessed: scripts, and dialog answers given in advance.
const classSafety = "safety"

// classLogin is the approval class of using accounts.
const classLogin = "login"

// Approver asks people for approval, or decides for them.
type Approver interface {
	// Ask returns nil if q is approved; otherwise the error's text says who or what refused. It may take minutes. For
	// an unknown id nobody can be asked.
	Ask(ctx context.Context, id, profile string, q sessions.Question) error
	// Profile returns the profile to use for a request of id that names want; "" for none. Its error refuses the
	// request.
	Profile(id, want string) (string, error)
}

// requestApprover asks for approval of one request's effects. A nil one, for a person's own request, approves
// everything.
type requestApprover struct {
	approver Approver
	id       string
}

// newRequestApprover returns the approver of a request. If nobody can be asked, everything is refused.
func newRequestApprover(r *http.Request, consent Approver) *requestApprover {
	ids := r.Header.Values(ApprovalHeader)
	if len(ids) == 0 {
		return nil
	}
	return &requestApprover{consent, cmp.Or(ids[0], "nobody")}
}

// profile returns the request's profile.
func (a *requestApprover) profile(want string) (string, error) {
	if a == nil || a.approver == nil {
		return want, nil
	}
	name, err := a.approver.Profile(a.id, want)
	if err != nil {
		return "", &StatusError{Status: http.StatusForbidden, Reason: ReasonProfileRefused, Err: err}
	}
	return name, nil
}

// ReasonProfileRefused is the reason given if a profile belongs to somebody else.
const ReasonProfileRefused = "profile_refused"

// ReasonConsentRefused is the reason given if approval was refused.
const ReasonConsentRefused = "consent_refused"

func deniedError(err error) error {
	return &StatusError{Status: http.StatusForbidden, Reason: ReasonConsentRefused, Err: err}
}

var (
	errNoApprover  = errors.New("not done: a person has to decide it, and nobody can be asked here")
	errPageChanged = errors.New("not done: the page changed what this does while it was being looked at; look at the " +
		"page again")
)

// decide asks for approval of an action's effects, if it has any.
func (a *requestApprover) decide(ctx context.Context, profile string, q sessions.Question) error {
	if a == nil || len(q.Classes) == 0 {
		return nil
	}
	if a.approver == nil {
		return deniedError(errNoApprover)
	}
	err := a.approver.Ask(ctx, a.id, profile, q)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return deniedError(err)
}

// maxJudgements is how often an action is assessed, since a page that keeps changing its effects does so on purpose.
const maxJudgements = 2

// DoApproved runs do, an action on a page, once its effects are approved, and only if they have not changed meanwhile.
func (a *requestApprover) DoApproved(ctx context.Context, profile string, tab *page.Tab, act page.Action,
	do func() error,
) error {
	if a == nil {
		return do()
	}
	if fn := act.Fn; fn != "" {
		if err := a.decide(ctx, profile,
			intent.QuestionAt(tab, classSafety, "Run JavaScript of the model in the page at %s: %s",
				intent.QuoteUntrusted(fn, 300))); err != nil {
			return err
		}
		return do()
	}
	// Most actions have no effects to approve: PerformJudged verifies that and performs them. An open dialog is an
	// error.
	if same, err := intent.PerformJudged(ctx, tab, act, "", do); same || err != nil {
		return err
	}
	for range maxJudgements {
		j, err := intent.JudgeAction(ctx, tab, act)
		if err != nil {
			return err
		}
		if err := a.decide(ctx, profile, j.Question); err != nil {
			return err
		}
		same, err := intent.PerformJudged(ctx, tab, act, j.Mark, do)
		if same || err != nil {
			return err
		}
	}
	return deniedError(errPageChanged)
}

// ApproveNavigation asks whether a tab may be navigated to an address; tab is nil for a new one.
func (a *requestApprover) ApproveNavigation(ctx context.Context, profile string, tab *page.Tab, address string) error {
	at := ""
	if tab != nil {
		at = tab.URL()
	}
	return a.decide(ctx, profile, intent.JudgeAddress(address, at).Question)
}

// ApproveDialog asks whether a dialog may be accepted: the one with that id, "" meaning the newest, or the next one if
// none is open. It returns the id of the dialog in the question.
func (a *requestApprover) ApproveDialog(ctx context.Context, profile string, tab *page.Tab, id string) (string, error) {
	if a == nil {
		return id, nil
	}
	open := tab.Dialogs().Pending
	if len(open) == 0 {
		return id, a.decide(ctx, profile,
			intent.QuestionAt(tab, classSafety, "Say yes to whatever is asked next by the page at %s"))
	}
	for _, d := range slices.Backward(open) {
		if id == "" || d.ID == id {
			return d.ID, a.decide(ctx, profile, intent.JudgeDialog(d, tab.URL()).Question)
		}
	}
	return id, nil // there is no such dialog; answering it will fail
}

// ApproveFiles asks whether files may be uploaded to the page.
func (a *requestApprover) ApproveFiles(ctx context.Context, profile string, tab *page.Tab, paths []string) error {
	if a == nil {
		return nil
	}
	return a.decide(ctx, profile, intent.FilesQuestion(tab, paths))
}

// ApproveReading asks whether the model may read data that only people see otherwise.
func (a *requestApprover) ApproveReading(ctx context.Context, profile, class, what string) error {
	return a.decide(ctx, profile, sessions.Question{Classes: []string{class}, Text: what})
}
