package share

import (
	"context"
	"errors"
	"fmt"

	"clank/sessions"
	"clank/videosource"
)

// CallRef names the call in which something is shared.
type CallRef struct {
	ID      string // unique for each share
	Guild   string // on Discord; empty elsewhere
	Channel string // on Discord; empty elsewhere
	Session string // of links to one session; empty for a call
}

// Presentation is one share, as a target gets it.
type Presentation struct {
	ID      string // of this share; a later one of the same call has another
	Call    CallRef
	Session sessions.Session
	Source  *videosource.Source // runs until the share has ended, and on if another call shows the same session

	// Lost may be called from any goroutine when the target can no longer show the share although nobody ended it; the
	// next target is tried then. It does not block, and only the first call counts.
	Lost func(err error)
}

// ErrTargetMoved is in the chain of the error passed to [Presentation.Lost] when someone moved the target to another
// channel. Usually they move the call as well, so the manager waits for that: people are told once.
var ErrTargetMoved = errors.New("the target was moved to another channel")

// ViewLocation is where people see a share.
type ViewLocation struct {
	Text string // a sentence for them: "You see it on this page."
	Link string // a URL for them, with a secret; empty if there is none. Never shown to models
}

// Target is one way to show something to a call.
type Target interface {
	// Name is what people call it: "Go Live".
	Name() string

	// Begin shows a share until End, and returns when it can be seen. An error is why not, as a sentence for people
	// without a full stop; nothing is left to end then. When ctx ends, it returns soon.
	Begin(ctx context.Context, s Presentation) (ViewLocation, error)

	// End ends what Begin began and waits for that, at most until ctx ends.
	End(ctx context.Context, s Presentation) error
}

// RefusalCode is why something was not shared, for programs and models.
type RefusalCode string

// The codes, in the order in which they are found.
const (
	NoCall       RefusalCode = "voice_session_missing"
	NoSessionID  RefusalCode = "browser_session_id_required"
	NoTarget     RefusalCode = "stream_publish_browser_transport_unavailable"
	NotFound     RefusalCode = "browser_session_not_found"
	NotOwner     RefusalCode = "browser_session_not_owned_by_requester"
	NoSource     RefusalCode = "browser_session_share_source_unavailable"
	NotReady     RefusalCode = "stream_publish_transport_ready_timeout"
	Inactive     RefusalCode = "video_share_inactive"
	NotAllowed   RefusalCode = "video_share_stop_not_allowed"
	ShuttingDown RefusalCode = "shutting_down"
)

// Refusal is why a session is not shown, or its share not stopped. Its text is a sentence for people that also says
// what to do.
type Refusal struct { //nolint:errname // a no is an answer
	Code RefusalCode
	text string
	err  error
}

func (r *Refusal) Error() string { return r.text }

// Unwrap returns the underlying error, if any.
func (r *Refusal) Unwrap() error { return r.err }

func newRefusal(code RefusalCode, format string, args ...any) *Refusal {
	err := fmt.Errorf(format, args...)
	return &Refusal{Code: code, text: err.Error(), err: err}
}
