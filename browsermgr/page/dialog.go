package page

import (
	"context"
	"time"
)

// Dialog is a JavaScript dialog of a page: alert, confirm, prompt or beforeunload.
type Dialog struct {
	ID           string    `json:"id"` // d1, d2, … per tab
	Type         string    `json:"type"`
	Message      string    `json:"message"`
	DefaultValue string    `json:"defaultValue,omitempty"` // of a prompt
	URL          string    `json:"url,omitempty"`          // of the frame that opened it
	OpenedAt     time.Time `json:"openedAt"`
	ClosedAt     time.Time `json:"closedAt,omitzero"`
	ClosedBy     string    `json:"closedBy,omitempty"` // agent, armed or remote
}

// Dialogs is what a tab knows of its dialogs. Both lists are oldest first.
type Dialogs struct {
	Pending []Dialog `json:"pending"`
	Recent  []Dialog `json:"recent"` // closed ones, at most 20
}

// Dialogs reports open and recently closed dialogs.
func (t *Tab) Dialogs() Dialogs { return Dialogs{} }

// AnswerDialog accepts or dismisses the open dialog. promptText is what a prompt returns when accepted.
// It is an error if no dialog is open.
func (t *Tab) AnswerDialog(ctx context.Context, accept bool, promptText string) error {
	return ErrTabGone
}
