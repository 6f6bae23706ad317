package chrome

import "slices"

// CheckStatus is the outcome of a check.
type CheckStatus string

// The outcomes. Only Fail means that something does not work.
const (
	CheckPass CheckStatus = "pass"
	CheckWarn CheckStatus = "warn"
	CheckFail CheckStatus = "fail"
	CheckInfo CheckStatus = "info"
)

// Check is one finding.
type Check struct {
	ID      string      `json:"id"`
	Label   string      `json:"label"`
	Status  CheckStatus `json:"status"`
	Summary string      `json:"summary"`
	FixHint string      `json:"fixHint,omitempty"`
}

// NoCheckFailed reports whether no check has failed.
func NoCheckFailed(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == CheckFail })
}
