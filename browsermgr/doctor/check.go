// Package doctor looks at a machine for what keeps browsers from running on it, and says what to do about it.
//
// A [Check] is one finding, in the form of the control API. [Machine.Checks] looks at files and limits only: it starts
// nothing, changes nothing and asks no network. What can be seen of a browser itself is its caller's to add.
package doctor

// Status is the outcome of a check.
type Status string

// The outcomes. Only Fail means that something does not work.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
	Info Status = "info"
)

// Check is one finding.
type Check struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Status  Status `json:"status"`
	Summary string `json:"summary"`
	FixHint string `json:"fixHint,omitempty"`
}

// OK reports whether no check has failed.
func OK(checks []Check) bool {
	for _, c := range checks {
		if c.Status == Fail {
			return false
		}
	}
	return true
}
