package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/cancel"
)

// ErrRefused is returned if a login must not be filled into the page; the text says why. The page has not received any
// secret.
var ErrRefused = errors.New("the login is not filled in")

// Secret holds a login's name, password and codes.
type Secret interface {
	Username() string
	Password() string // "" if there is none
}

// FillRequest describes what to fill in. Origins are the origins the entry is for, in the form of location.origin.
// Reveal returns the secret; it is called when a field in a document of one of them was found, with that document's
// origin.
type FillRequest struct {
	Name    string
	Origins []string
	Reveal  func(ctx context.Context, origin string) (Secret, error)
	// Submit submits the form and, if a page asks only for the user name, continues with the password on the next page.
	Submit bool
}

// FillResult describes what was filled in.
type FillResult struct {
	Origin    string
	Username  bool
	Password  bool
	Submitted bool
}

const (
	pageFillLimit    = 15 * time.Second // for one page
	nextPageLimit    = 15 * time.Second // until the next page asks for the password
	nextPageInterval = 100 * time.Millisecond
)

// Filler fills in logins, and remembers them so that pictures can be masked. The zero value is ready for use. It is
// safe for concurrent use.
type Filler struct {
	mu     sync.Mutex
	filled []filledWord
}

// filledWord is a secret that pages of these origins received from us.
type filledWord struct {
	origins []string
	word    string
	code    bool // a one-time code, valid only briefly
}

// formFields are the fields that our script finds in a document.
type formFields struct {
	User    bool   `json:"user"`
	Pass    bool   `json:"pass"`
	Code    bool   `json:"code"`
	Refused string `json:"refused"`
}

// Fill fills a login into the tab's page: into the main frame if that has a login form, or else into a subframe. The
// page and the subframe must have one of the origins. If a page asks only for the user name, only that is filled in,
// unless the request has Submit set. The error wraps ErrRefused if the page is not suitable.
func (k *Filler) Fill(ctx context.Context, t *page.Tab, r FillRequest) (FillResult, error) {
	var res FillResult
	var last string // the document whose user name was submitted
	deadline := time.Now().Add(nextPageLimit)
	for {
		var again bool
		err := t.RunExclusive(ctx, pageFillLimit, func(ctx context.Context) (err error) {
			again, err = k.fillPage(ctx, t, r, &res)
			return err
		})
		waiting := res.Submitted && !res.Password && last != ""
		switch {
		case err == nil && !again:
			return res, awaitNavigation(ctx, t, res)
		case err != nil && (!waiting || time.Now().After(deadline)):
			return res, fmt.Errorf("fill in %s: %w", r.Name, err)
		case err == nil && time.Now().After(deadline):
			return res, nil
		}
		last = res.Origin
		if err := cancel.Sleep(ctx, nextPageInterval); err != nil {
			return res, err
		}
	}
}

// awaitNavigation waits for the page after a submission. Whether that page loads does not affect the result.
func awaitNavigation(ctx context.Context, t *page.Tab, res FillResult) error {
	if !res.Submitted {
		return nil
	}
	limit := 10 * time.Second
	_, err := t.Act(ctx, page.Action{Kind: actiontable.KindWait, LoadState: "load", TimeoutMs: int(limit.Milliseconds())})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fillPage fills in what the page asks for. again reports that the next page should ask for the password.
func (k *Filler) fillPage(ctx context.Context, t *page.Tab, r FillRequest, res *FillResult) (again bool, err error) {
	h, seen, err := findDocument(ctx, t, r.Name, r.Origins,
		func(ctx context.Context, h *documentHandle) (formFields, error) {
			return callHandle[formFields](ctx, h, "look")
		})
	if err != nil {
		return false, err
	}
	defer h.release()
	if !seen.Pass && res.Username {
		if res.Submitted {
			return true, nil // the page that asked for the user name is still shown
		}
		return false, fmt.Errorf("%w: the page asks for no password", ErrRefused)
	}
	secret, err := r.Reveal(ctx, h.frame.origin)
	if err != nil {
		return false, err
	}
	word := secret.Password()
	if !seen.Pass {
		word = ""
	} else if word == "" {
		return false, fmt.Errorf("%w: the entry holds no password", ErrRefused)
	}
	if word != "" {
		k.addFilled(filledWord{origins: r.Origins, word: word})
	}
	done, err := callHandle[formFields](ctx, h, "write", secret.Username(), word)
	if err != nil {
		return false, err
	}
	if done.Refused != "" {
		return false, fmt.Errorf("%w: %s", ErrRefused, done.Refused)
	}
	res.Origin, res.Username, res.Password = h.frame.origin, res.Username || done.User, done.Pass
	if !r.Submit {
		return false, nil
	}
	sent, err := callHandle[formFields](ctx, h, "submit")
	if err != nil && !errors.Is(err, cdp.ErrDocumentGone) {
		return false, err
	}
	if sent.Refused != "" {
		return false, fmt.Errorf("%w: %s", ErrRefused, sent.Refused)
	}
	res.Submitted = true
	return !res.Password, nil
}

// FindOrigin returns the origin of the document into which [Filler.Fill] would fill a login, or [Filler.FillCode] a
// code with this number of digits; 0 digits mean a login. It discloses nothing.
func (k *Filler) FindOrigin(ctx context.Context, t *page.Tab, name string, origins []string,
	digits int,
) (origin string, err error) {
	see := func(ctx context.Context, h *documentHandle) (formFields, error) {
		if digits > 0 {
			return callHandle[formFields](ctx, h, "lookForCode", digits)
		}
		return callHandle[formFields](ctx, h, "look")
	}
	err = t.RunExclusive(ctx, pageFillLimit, func(ctx context.Context) error {
		h, _, err := findDocument(ctx, t, name, origins, see)
		if err != nil {
			return err
		}
		origin = h.frame.origin
		h.release()
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("fill in %s: %w", name, err)
	}
	return origin, nil
}

// CodeFunc returns the entry's one-time code for a page of this origin.
type CodeFunc func(ctx context.Context, origin string) (string, error)

// FillCode fills a one-time code with this number of digits into the page's field for it. The error wraps ErrRefused if
// there is no such field.
func (k *Filler) FillCode(ctx context.Context, t *page.Tab, name string, origins []string, digits int,
	code CodeFunc,
) (origin string, err error) {
	err = t.RunExclusive(ctx, pageFillLimit, func(ctx context.Context) error {
		h, _, err := findDocument(ctx, t, name, origins, func(ctx context.Context, h *documentHandle) (formFields, error) {
			return callHandle[formFields](ctx, h, "lookForCode", digits)
		})
		if err != nil {
			return err
		}
		defer h.release()
		origin = h.frame.origin
		word, err := code(ctx, origin)
		if err != nil {
			return err
		}
		k.addFilled(filledWord{origins: origins, word: word, code: true})
		done, err := callHandle[formFields](ctx, h, "writeCode", word)
		if err == nil && done.Refused != "" {
			err = fmt.Errorf("%w: %s", ErrRefused, done.Refused)
		}
		return err
	})
	if err != nil {
		return origin, fmt.Errorf("fill in the code of %s: %w", name, err)
	}
	return origin, nil
}

// findDocument returns our script's handle for the first document of the origins in which see finds fields. The caller
// releases it.
func findDocument(ctx context.Context, t *page.Tab, name string, origins []string,
	see func(context.Context, *documentHandle) (formFields, error),
) (*documentHandle, formFields, error) {
	all, err := tabFrames(ctx, t)
	if err != nil {
		return nil, formFields{}, err
	}
	refused := ""
	fits := false
	// People recognize a page by the tab's address. A page of another origin around the form could cover it.
	foreign := !all[0].of(origins)
	for _, s := range all {
		if foreign && s.of(origins) {
			return nil, formFields{}, fmt.Errorf("%w: the form is in a frame of a page of %s, which %s is not for; open the "+
				"form in a tab of its own, or let the person add that origin to the entry", ErrRefused, all[0].origin, name)
		}
		if !s.of(origins) {
			continue
		}
		h, err := s.openDocument(ctx, origins)
		if cdp.IsDocumentGone(err) || err == nil && h == nil {
			continue
		}
		if err != nil {
			return nil, formFields{}, err
		}
		fits = true
		seen, err := see(ctx, h)
		if err == nil && (seen.User || seen.Pass || seen.Code) {
			if err = checkVisible(ctx, t, h); err == nil {
				return h, seen, nil
			}
			refused = err.Error()
		}
		h.release()
		refused = cmp.Or(refused, seen.Refused)
	}
	switch {
	case refused != "":
		return nil, formFields{}, fmt.Errorf("%w: %s", ErrRefused, refused)
	case fits:
		return nil, formFields{}, fmt.Errorf("%w: the page has no field for it that can be seen", ErrRefused)
	}
	return nil, formFields{}, fmt.Errorf("%w: %s is for %s, and the page is of %s", ErrRefused, name,
		strings.Join(origins, " and "), all[0].origin)
}

// checkVisible returns an error if the surrounding frames hide the fields.
func checkVisible(ctx context.Context, t *page.Tab, h *documentHandle) error {
	points, err := callHandle[[]struct{ X, Y float64 }](ctx, h, "places")
	if err != nil {
		return err
	}
	boxes := make([]page.Area, len(points))
	for i, p := range points {
		boxes[i] = page.Area{Left: p.X, Top: p.Y, Right: p.X, Bottom: p.Y}
	}
	_, err = h.frame.mapToMainFrame(ctx, t, boxes, true)
	return err
}

// Remember masks a password that pages of these origins received in an earlier run.
func (k *Filler) Remember(origins []string, password string) {
	k.addFilled(filledWord{origins: origins, word: password})
}

// BeginHold records the values of a tab's fields before a takeover.
func (k *Filler) BeginHold(ctx context.Context, t *page.Tab) error {
	return eachDocument(ctx, t, func(_ []string, h *documentHandle) error {
		_, err := callHandle[any](ctx, h, "beginHold")
		return err
	})
}

// EndHold masks the fields whose values differ from those at [Filler.BeginHold] or, in new documents, from their
// defaults, and other occurrences of these values in the documents. It returns the values.
func (k *Filler) EndHold(ctx context.Context, t *page.Tab) (typed []string, err error) {
	err = eachDocument(ctx, t, func(origins []string, h *documentHandle) error {
		words, err := callHandle[[]string](ctx, h, "endHold")
		for _, word := range words {
			if utf8.RuneCountInString(word) < minTyped {
				word = "" // the field is masked all the same
			}
			k.addWord(filledWord{origins: origins, word: word})
		}
		typed = append(typed, words...)
		return err
	})
	return typed, err
}

// minTyped is the minimum length of a typed text to look for outside its field.
const minTyped = 4

// eachDocument calls do for each document of a tab. An about:blank document may have its creator's origin.
func eachDocument(ctx context.Context, t *page.Tab, do func(origins []string, h *documentHandle) error) error {
	all, err := tabFrames(ctx, t)
	if err != nil {
		return err
	}
	var every []string
	for _, s := range all {
		every = append(every, s.origin)
	}
	for _, s := range all {
		origins := []string{s.origin}
		if s.inheritsOrigin() {
			origins = every
		}
		h, err := s.openDocument(ctx, origins)
		if err == nil && h != nil {
			if err = h.openShadows(ctx); err == nil {
				err = do(origins, h)
			}
			h.release()
		}
		if err != nil && !cdp.IsDocumentGone(err) {
			return err
		}
	}
	return nil
}

// addFilled masks a secret from now on.
func (k *Filler) addFilled(f filledWord) {
	if f.word != "" {
		k.addWord(f)
	}
}

func (k *Filler) addWord(f filledWord) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.filled, func(old filledWord) bool {
		return old.word == f.word && slices.Equal(old.origins, f.origins)
	}) {
		f.origins = slices.Clone(f.origins)
		k.filled = append(k.filled, f)
	}
	if len(k.filled) > maxFilled {
		first := max(0, slices.IndexFunc(k.filled, func(f filledWord) bool { return f.code }))
		k.filled = slices.Delete(k.filled, first, first+1)
	}
}

// maxFilled bounds the remembered secrets. The oldest one-time codes are dropped first.
const maxFilled = 64

// HiddenAreas returns the areas that pictures of a tab must not show: every field that contains a filled-in secret,
// whatever its present type, and every text that repeats one, in documents of the secret's origins. It implements
// page.Options.HiddenAreas, and returns at once if nothing was filled in.
func (k *Filler) HiddenAreas(ctx context.Context, t *page.Tab) ([]page.Area, error) {
	k.mu.Lock()
	known := slices.Clone(k.filled)
	k.mu.Unlock()
	if len(known) == 0 {
		return nil, nil
	}
	areas := []page.Area{}
	err := search(ctx, t, known, func(s tabFrame, origins, words []string) error {
		found, err := s.findShown(ctx, t, origins, words)
		areas = append(areas, found...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return areas, nil
}

// Holds reports whether a tab's documents contain a filled-in secret, in a field or a text, even if hidden. It
// implements page.Options.Holds, and returns at once if nothing was filled in.
func (k *Filler) Holds(ctx context.Context, t *page.Tab) (held bool, err error) {
	k.mu.Lock()
	known := slices.Clone(k.filled)
	k.mu.Unlock()
	if len(known) == 0 {
		return false, nil
	}
	err = search(ctx, t, known, func(s tabFrame, origins, words []string) error {
		h, err := s.openDocument(ctx, origins)
		if err != nil || h == nil || held {
			return err
		}
		defer h.release()
		if err := h.openShadows(ctx); err != nil {
			return err
		}
		held, err = callHandle[bool](ctx, h, "holds", words)
		return err
	})
	return held, err
}

// search calls look for each document of a tab that may contain some of these secrets, with the secrets for its origin.
func search(ctx context.Context, t *page.Tab, known []filledWord,
	look func(s tabFrame, origins, words []string) error,
) error {
	all, err := tabFrames(ctx, t)
	if err != nil {
		return err
	}
	for _, s := range all {
		var origins, words []string
		for _, f := range known {
			if s.of(f.origins) || s.inheritsOrigin() {
				origins, words = append(origins, f.origins...), append(words, f.word)
			}
		}
		if len(words) == 0 {
			continue
		}
		if err := look(s, origins, words); err != nil && !cdp.IsDocumentGone(err) {
			return err
		}
	}
	return nil
}

// findShown returns the areas where the frame's document shows one of the words, in the viewport of the main frame.
func (s tabFrame) findShown(ctx context.Context, t *page.Tab, origins, words []string) ([]page.Area, error) {
	h, err := s.openDocument(ctx, origins)
	if err != nil || h == nil {
		return nil, err
	}
	defer h.release()
	if err := h.openShadows(ctx); err != nil {
		return nil, err
	}
	boxes, err := callHandle[[]page.Area](ctx, h, "shows", words)
	if err != nil {
		return nil, err
	}
	return s.mapToMainFrame(ctx, t, boxes, false)
}
