package page

import (
	"errors"
	"fmt"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
)

// Errors for use with [errors.Is].
var (
	// ErrBrowserGone is returned if the connection to the browser is lost. Pending calls fail with it at once.
	ErrBrowserGone = cdp.ErrGone
	// ErrTabGone is returned if the tab was closed, by us, by the page or by a person.
	ErrTabGone = errors.New("the tab is closed")
	// ErrTabCrashed is returned if the tab's renderer crashed. Navigate revives the tab.
	ErrTabCrashed = errors.New("the page crashed: navigate to bring the tab back")
	// ErrUnknownRef is returned if a ref is not of the present document: it was never issued, its element is gone, or
	// it belongs to an earlier page.
	ErrUnknownRef = fault.ErrUnknownRef
	// ErrInvalid is returned if the request itself was malformed; nothing was done.
	ErrInvalid = fault.ErrInvalid
	// ErrNotInteractable is returned if an element could not be acted upon in time: it was covered, disabled, hidden or
	// moving. The text around it names the reason.
	ErrNotInteractable = fault.ErrNotInteractable
	// ErrSecret is returned if nothing may be copied out of the page; see [Options.Holds].
	ErrSecret = errors.New("nothing is copied while the page contains a kept login: submit it or clear its field first")
	// ErrForeignClipboard is returned for keys that copy or paste; see [Options.Joined].
	ErrForeignClipboard = errors.New("keys cannot copy or paste in a person's own browser, since the clipboard is " +
		"theirs: type the text instead")
)

// DialogError says that a JavaScript dialog blocks the page until it is answered with [Tab.AnswerDialog].
type DialogError struct {
	Dialog Dialog

	openBefore bool // it was open before the action: nothing was done
}

// Error names the dialog and how to answer it.
func (e *DialogError) Error() string {
	return fmt.Sprintf("the page shows %s %s: %q; accept or dismiss it first", withArticle(e.Dialog.Type), e.Dialog.ID,
		e.Dialog.Message)
}

func withArticle(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
}
