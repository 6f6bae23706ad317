package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clank/browsermgr/control/reply"
	"clank/browsermgr/intent"
	"clank/browsermgr/page"
)

// Header marks a request as one on behalf of a model. Its value is an opaque id of those who may be asked.
const Header = "X-Clank-Ask"

// Safety is the class of what cannot be judged: scripts, and answers given in advance.
const Safety = "safety"

// Question is what a request is about to set off.
type Question struct {
	Profile string
	Classes []string // those of package intent and Safety, the weightiest first; never empty
	Text    string   // in our words
	Detail  string   // in the page's words: untrusted
	Origin  string   // of the page
	To      string   // the host it leads to, if that is another one
}

// Consent decides, or asks those who do.
type Consent interface {
	// Ask returns nil if it may be done; the text of its error says who or what said no. It may take minutes. An id that
	// it does not know is nobody who could be asked.
	Ask(ctx context.Context, id string, q Question) error
}

// Asker asks about what one request sets off. A nil Asker is that of a person's own request: it asks nobody.
type Asker struct {
	consent Consent
	id      string
}

// Of is the asker of a request. Without a consent every question has the answer no.
func Of(r *http.Request, consent Consent) *Asker {
	ids := r.Header.Values(Header)
	if len(ids) == 0 {
		return nil
	}
	return &Asker{consent, ids[0]}
}

// Reason is the stable word told with a no.
const Reason = "consent_refused"

func refusal(err error) error {
	return &reply.StatusError{Status: http.StatusForbidden, Reason: Reason, Err: err}
}

var (
	errNobody  = errors.New("not done: a person has to decide it, and nobody can be asked here")
	errChanged = errors.New("not done: the page changed what this does while it was being looked at; look at the page again")
)

// Denied reports whether an error is the answer no.
func Denied(err error) bool {
	f, ok := errors.AsType[*reply.StatusError](err)
	return ok && f.Reason == Reason
}

// decide asks about a judgement.
func (a *Asker) decide(ctx context.Context, profile string, j intent.Judgement) error {
	if a == nil || len(j.Classes) == 0 {
		return nil
	}
	if a.consent == nil {
		return refusal(errNobody)
	}
	err := a.consent.Ask(ctx, a.id, Question{Profile: profile, Classes: j.Classes, Text: j.Text, Detail: j.Detail, Origin: j.Origin, To: j.To})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return refusal(err)
}

// maxJudged is how often an action is judged: a page that changes its meaning again and again does so on purpose.
const maxJudged = 2

// Act does an action on a page once people have agreed to what it sets off, and only if that has not changed meanwhile.
func (a *Asker) Act(ctx context.Context, profile string, tab *page.Tab, act page.Action, do func() error) error {
	if a == nil {
		return do()
	}
	if fn := act.Fn; fn != "" {
		if err := a.decide(ctx, profile, safety(tab, "Run JavaScript of the model in the page at", ": "+quoted(fn, 300))); err != nil {
			return err
		}
		return do()
	}
	if len(tab.Dialogs().Pending) > 0 { // it keeps the action from being done
		return do()
	}
	// Most actions set nothing off: one look says so and holds them to it.
	if same, err := intent.Do(ctx, tab, act, "", do); same || err != nil {
		return err
	}
	for range maxJudged {
		j, err := intent.Of(ctx, tab, act)
		if err != nil {
			return err
		}
		if err := a.decide(ctx, profile, j); err != nil {
			return err
		}
		same, err := intent.Do(ctx, tab, act, j.Mark, do)
		if same || err != nil {
			return err
		}
	}
	return refusal(errChanged)
}

// Go asks whether a tab may be taken to an address; tab is nil for a new one.
func (a *Asker) Go(ctx context.Context, profile string, tab *page.Tab, address string) error {
	at := ""
	if tab != nil {
		at = tab.URL()
	}
	return a.decide(ctx, profile, intent.OfAddress(address, at))
}

// Dialog asks whether a dialog may be accepted: the one with that id, "" meaning the newest, or the next one if none is
// open. The result is the id of the one that was asked about.
func (a *Asker) Dialog(ctx context.Context, profile string, tab *page.Tab, id string) (string, error) {
	if a == nil {
		return id, nil
	}
	open := tab.Dialogs().Pending
	if len(open) == 0 {
		return id, a.decide(ctx, profile, safety(tab, "Say yes to whatever is asked next by the page at", ""))
	}
	for _, d := range slices.Backward(open) {
		if id == "" || d.ID == id {
			return d.ID, a.decide(ctx, profile, intent.OfDialog(d, tab.URL()))
		}
	}
	return id, nil // there is no such dialog, and the answer says so
}

// Files asks whether files may be handed over to the page.
func (a *Asker) Files(ctx context.Context, profile string, tab *page.Tab, paths []string) error {
	if a == nil {
		return nil
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = quoted(filepath.Base(p), 80)
	}
	j := safety(tab, "Hand over files to the page at", ": "+strings.Join(names, ", "))
	j.Classes = []string{intent.Submit}
	return a.decide(ctx, profile, j)
}

// safety is the judgement of something in the page, whose host stands between what is said before and after it.
func safety(tab *page.Tab, before, after string) intent.Judgement {
	j := intent.Judgement{Classes: []string{Safety}}
	host := "an empty address"
	if u, err := url.Parse(tab.URL()); err == nil && u.Host != "" {
		host, j.Origin = u.Host, u.Scheme+"://"+u.Host
	}
	j.Text = before + " " + host + after
	return j
}

// quoted is a text that others wrote, in quotes, without anything that could look like something else.
func quoted(s string, most int) string {
	more := ""
	if n := utf8.RuneCountInString(s); n > most {
		s, more = string([]rune(s)[:most]), fmt.Sprintf(" … (%d characters)", n)
	}
	return strconv.QuoteToASCII(s) + more
}
