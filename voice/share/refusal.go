package share

import "fmt"

// RefusalCode says why something could not be shared, for programs and models.
type RefusalCode string

// The codes, in the order in which they are found.
const (
	NoCall       RefusalCode = "voice_session_missing"
	NoSessionID  RefusalCode = "browser_session_id_required"
	NoBrowser    RefusalCode = "browser_unavailable"
	NoTarget     RefusalCode = "stream_publish_browser_transport_unavailable"
	NotFound     RefusalCode = "browser_session_not_found"
	NotOwner     RefusalCode = "browser_session_not_owned_by_requester"
	NoSource     RefusalCode = "browser_session_share_source_unavailable"
	NotReady     RefusalCode = "stream_publish_transport_ready_timeout"
	Inactive     RefusalCode = "video_share_inactive"
	NotAllowed   RefusalCode = "video_share_stop_not_allowed"
	ShuttingDown RefusalCode = "shutting_down"
)

// Refusal is why something is not shared, or its share not stopped. Its text is a sentence for people that also tells the way out.
type Refusal struct { //nolint:errname // a no is an answer
	Code RefusalCode
	text string
	err  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.text }

// Unwrap returns the underlying error, if any.
func (r *Refusal) Unwrap() error { return r.err }

func newRefusal(code RefusalCode, format string, args ...any) *Refusal {
	err := fmt.Errorf(format, args...)
	return &Refusal{Code: code, text: err.Error(), err: err}
}
