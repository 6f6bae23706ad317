package page

import (
	"encoding/json"

	"clank/browsermgr/page/action"
)

// Action is one thing to do in a tab. Kind decides which fields count.
type Action = action.Action

// Field is one entry of a fill.
type Field = action.Field

// Kind names an action.
type Kind = action.Kind

// Result is what an action or a navigation led to, as far as it was visible when it returned.
type Result struct {
	// URL is the tab's address afterwards.
	URL string `json:"url"`
	// Navigated says that the tab's main document was replaced, or its address changed within the document.
	Navigated bool `json:"navigated,omitempty"`
	// Loading says that a load which the action began had not come to its end.
	Loading bool `json:"loading,omitempty"`
	// Downloading says that a download may follow: the page asked for one, which Chromium does not tell of before the server
	// has answered, or what was clicked promises one by its name.
	Downloading bool `json:"-"`
	// Status is the HTTP status of the new main document; 0 if there is none.
	Status int `json:"status,omitempty"`
	// BlockedByDialog says that a dialog opened and the action was left where it was. It is not a failure.
	BlockedByDialog bool `json:"blockedByDialog,omitempty"`
	// Dialog is the open dialog, if BlockedByDialog.
	Dialog *Dialog `json:"dialog,omitempty"`
	// Opened lists the tabs that the page opened meanwhile.
	Opened []*Tab `json:"-"`
	// Value is what evaluate returned, as JSON; nil for undefined.
	Value json.RawMessage `json:"value,omitempty"`
}
