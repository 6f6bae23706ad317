package sharing

import "fmt"

// Code says why something could not be shared, for programs and models.
type Code string

// The codes, in the order in which they are found.
const (
	NoCall       Code = "voice_session_missing"
	NoID         Code = "browser_session_id_required"
	NoBrowser    Code = "browser_unavailable"
	NoStage      Code = "stream_publish_browser_transport_unavailable"
	NotFound     Code = "browser_session_not_found"
	NotOwner     Code = "browser_session_not_owned_by_requester"
	NoSource     Code = "browser_session_share_source_unavailable"
	NotReady     Code = "stream_publish_transport_ready_timeout"
	Inactive     Code = "video_share_inactive"
	NotAllowed   Code = "video_share_stop_not_allowed"
	ShuttingDown Code = "shutting_down"
)

// Refusal is why something is not shared, or its share not stopped. Its text is a sentence for people that also tells the way out.
type Refusal struct { //nolint:errname // a no is an answer
	Code Code
	text string
	err  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.text }

// Unwrap is what lies behind it, if anything does.
func (r *Refusal) Unwrap() error { return r.err }

func refuse(code Code, format string, args ...any) *Refusal {
	err := fmt.Errorf(format, args...)
	return &Refusal{Code: code, text: err.Error(), err: err}
}
