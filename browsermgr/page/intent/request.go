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

// JudgeRequest judges what is asked of a window, as a client writes it: an action on the page, going somewhere, or the
// answer to a dialog. What cannot be understood sets nothing off.
func JudgeRequest(ctx context.Context, tab *page.Tab, kind string, args map[string]any) (sessions.Assessment, error) {
	switch actiontable.Kind(kind) {
	case actiontable.KindDialog:
		return JudgeDialogAnswer(tab, args), nil
	case actiontable.KindNavigate, actiontable.KindTabNew:
		_, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
		if err != nil {
			return sessions.Assessment{}, nil //nolint:nilerr // Act says what is wrong
		}
		j := JudgeAddress(values.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	case actiontable.KindUpload:
		return judgeUpload(ctx, tab, args)
	default:
	}
	a, ok := ParsePageAction(kind, args)
	if !ok || len(tab.Dialogs().Pending) > 0 { // a dialog keeps the action from being done
		return sessions.Assessment{}, nil
	}
	return JudgeAction(ctx, tab, a)
}

// judgeUpload judges handing over files, and the click that asks for them.
func judgeUpload(ctx context.Context, tab *page.Tab, args map[string]any) (sessions.Assessment, error) {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindUpload, args)
	if err != nil || len(tab.Dialogs().Pending) > 0 {
		return sessions.Assessment{}, nil //nolint:nilerr // Act says what is wrong
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

// PerformUpload does an upload that people have agreed to, unless the click on ref has come to mean something else than mark.
func PerformUpload(
	ctx context.Context, tab *page.Tab, args map[string]any, mark string, do func() error,
) (same bool, err error) {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindUpload, args)
	if err != nil {
		return true, do() // which says what is wrong
	}
	if open := tab.Dialogs().Pending; len(open) > 0 { // by the time that do looks it may be gone, and the page with it
		return true, &page.DialogError{Dialog: open[0]}
	}
	click, agreed := strings.CutPrefix(mark, uploadMark)
	if !agreed {
		return false, nil
	}
	return PerformJudged(ctx, tab, page.Action{Kind: actiontable.KindClick, Ref: values.Text("ref")}, click, do)
}

// FilesQuestion asks whether files may be handed over to the page.
func FilesQuestion(tab *page.Tab, paths []string) sessions.Question {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = QuoteUntrusted(filepath.Base(p), 80)
	}
	return QuestionAt(tab, ClassSubmit, "Hand over files to the page at %s: %s", strings.Join(names, ", "))
}

// QuestionAt asks about something in the page, whose host is the first argument of format.
func QuestionAt(tab *page.Tab, class, format string, args ...any) sessions.Question {
	q := sessions.Question{Classes: []string{class}}
	host := "an empty address"
	if u, err := url.Parse(tab.URL()); err == nil && u.Host != "" {
		host, q.Origin = u.Host, u.Scheme+"://"+u.Host
	}
	q.Text = fmt.Sprintf(format, append([]any{host}, args...)...)
	return q
}

// QuoteUntrusted returns a text that others wrote, in quotes, without anything that could look like something else.
func QuoteUntrusted(s string, most int) string {
	more := ""
	if n := utf8.RuneCountInString(s); n > most {
		s, more = string([]rune(s)[:most]), fmt.Sprintf(" … (%d characters)", n)
	}
	return strconv.QuoteToASCII(s) + more
}

// JudgeDialogAnswer judges the answer to the dialog that is open.
func JudgeDialogAnswer(tab *page.Tab, args map[string]any) sessions.Assessment {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindDialog, args)
	open := tab.Dialogs().Pending
	if err != nil || !values.Bool("accept") || len(open) == 0 {
		return sessions.Assessment{}
	}
	return JudgeDialog(open[len(open)-1], tab.URL())
}

// ParsePageAction reads an action on the page itself, as a client of a window writes it; false for what is none.
func ParsePageAction(kind string, args map[string]any) (page.Action, bool) {
	spec, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
	if err != nil || !spec.OnPage() {
		return page.Action{}, false
	}
	a := spec.Action(values)
	return a, action.Validate(a) == nil
}
