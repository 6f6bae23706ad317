package page

import (
	"errors"
	"fmt"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
)

// Sentinels for the cases where a caller has to choose what to do next. Errors of this package wrap them.
var (
	// ErrBrowserGone says that the connection to the browser is lost. Every pending call fails with it at once.
	ErrBrowserGone = cdp.ErrGone
	// ErrTabGone says that the tab was closed, by us, by the page or by a person.
	ErrTabGone = errors.New("the tab is closed")
	// ErrTabCrashed says that the tab's process died. Navigate brings the tab back.
	ErrTabCrashed = errors.New("the page crashed: navigate to bring the tab back")
	// ErrUnknownRef says that a ref names no element of the present document: never issued, gone, or of an earlier page.
	ErrUnknownRef = fault.ErrUnknownRef
	// ErrInvalid says that the request itself was malformed; nothing was done.
	ErrInvalid = fault.ErrInvalid
	// ErrNotInteractable says that an element was found but could not be acted upon in time: covered, disabled, hidden
	// or moving. The text around it names the reason.
	ErrNotInteractable = fault.ErrNotInteractable
	// ErrSecret says that nothing is copied out of the page now, see [Options.Holds].
	ErrSecret = errors.New("nothing is copied while the page holds a kept login: send it or empty its field first")
	// ErrForeignClipboard says that keys which copy or paste are not pressed, see [Options.Joined].
	ErrForeignClipboard = errors.New("nothing is copied or pasted by keys in a browser that a person uses: its clipboard is theirs; type the text instead")
)

// DialogError says that the page cannot be used until its JavaScript dialog is answered with [Tab.AnswerDialog].
type DialogError struct {
	Dialog Dialog

	openBefore bool // it was open before the action: nothing was done
}

// Error names the dialog and the way out.
func (e *DialogError) Error() string {
	return fmt.Sprintf("the page shows %s %s: %q; accept or dismiss it first", withArticle(e.Dialog.Type), e.Dialog.ID, e.Dialog.Message)
}

func withArticle(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
}
