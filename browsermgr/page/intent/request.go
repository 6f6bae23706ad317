package intent

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/sessions"
)

// JudgeRequest judges a client's request to a window: an action on the page, a navigation, or the answer to a dialog.
// An invalid request has no effects.
func JudgeRequest(ctx context.Context, tab *page.Tab, kind string, args map[string]any) (sessions.Assessment, error) {
	switch actiontable.Kind(kind) {
	case actiontable.KindDialog:
		return JudgeDialogAnswer(tab, args), nil
	case actiontable.KindNavigate, actiontable.KindTabNew:
		_, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
		if err != nil {
			return sessions.Assessment{}, nil //nolint:nilerr // Act reports the error
		}
		j := JudgeAddress(values.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	case actiontable.KindUpload:
		return judgeUpload(ctx, tab, args)
	default:
	}
	a, ok := ParsePageAction(kind, args)
	if !ok || len(tab.Dialogs().Pending) > 0 { // an open dialog blocks the action
		return sessions.Assessment{}, nil
	}
	return JudgeAction(ctx, tab, a)
}

// judgeUpload judges an upload of files, and the click that opens the file chooser.
func judgeUpload(ctx context.Context, tab *page.Tab, args map[string]any) (sessions.Assessment, error) {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindUpload, args)
	if err != nil || len(tab.Dialogs().Pending) > 0 {
		return sessions.Assessment{}, nil //nolint:nilerr // Act reports the error
	}
	j, err := JudgeAction(ctx, tab, page.Action{Kind: actiontable.KindClick, Ref: values.Text("ref")})
	if err != nil {
		return j, err
	}
	q := FilesQuestion(tab, values.Texts("paths"))
	if len(j.Classes) > 0 {
		q.Text, q.TargetHost, q.Detail = q.Text+"; and "+j.Text, j.TargetHost, j.Detail
	}
	for _, class := range j.Classes {
		if class != ClassSubmit {
			q.Classes = append(q.Classes, class)
		}
	}
	return sessions.Assessment{Question: q, Mark: uploadMark + j.Mark}, nil
}

// PerformUpload performs an approved upload, unless the effects of the click on ref no longer match mark.
func PerformUpload(
	ctx context.Context, tab *page.Tab, args map[string]any, mark string, do func() error,
) (same bool, err error) {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindUpload, args)
	if err != nil {
		return true, do() // which reports the error
	}
	if open := tab.Dialogs().Pending; len(open) > 0 { // when do checks, the dialog may be gone, and the page with it
		return true, &page.DialogError{Dialog: open[0]}
	}
	click, agreed := strings.CutPrefix(mark, uploadMark)
	if !agreed {
		return false, nil
	}
	return PerformJudged(ctx, tab, page.Action{Kind: actiontable.KindClick, Ref: values.Text("ref")}, click, do)
}

// FilesQuestion asks whether files may be uploaded to the page.
func FilesQuestion(tab *page.Tab, paths []string) sessions.Question {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = QuoteUntrusted(filepath.Base(p), 80)
	}
	return QuestionAt(tab, ClassSubmit, "Hand over files to the page at %s: %s", strings.Join(names, ", "))
}

// QuestionAt returns a question about the page, whose host is the first argument of format.
func QuestionAt(tab *page.Tab, class, format string, args ...any) sessions.Question {
	q := sessions.Question{Classes: []string{class}}
	host := "an empty address"
	if u, err := url.Parse(tab.URL()); err == nil && u.Host != "" {
		host, q.Origin = u.Host, u.Scheme+"://"+u.Host
	}
	q.Text = fmt.Sprintf(format, append([]any{host}, args...)...)
	return q
}

// QuoteUntrusted quotes untrusted text, without characters that could make it look like something else.
func QuoteUntrusted(s string, most int) string {
	more := ""
	if n := utf8.RuneCountInString(s); n > most {
		s, more = string([]rune(s)[:most]), fmt.Sprintf(" … (%d characters)", n)
	}
	return strconv.QuoteToASCII(s) + more
}

// JudgeDialogAnswer judges the answer to the open dialog.
func JudgeDialogAnswer(tab *page.Tab, args map[string]any) sessions.Assessment {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindDialog, args)
	open := tab.Dialogs().Pending
	if err != nil || !values.Bool("accept") || len(open) == 0 {
		return sessions.Assessment{}
	}
	return JudgeDialog(open[len(open)-1], tab.URL())
}

// ParsePageAction parses an action on the page from a client's request to a window; ok is false for other requests.
func ParsePageAction(kind string, args map[string]any) (page.Action, bool) {
	spec, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
	if err != nil || !spec.OnPage() {
		return page.Action{}, false
	}
	a := spec.Action(values)
	return a, action.Validate(a) == nil
}
