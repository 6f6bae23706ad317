package settings

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Approval says before what people are asked: a rule for each class of action, see the Ask constants.
type Approval struct {
	Submit, Buy, Send, Delete, Permission, Executable, Leave, Host, Login, Safety, Unclear string

	UnclearModel string // asked about unclear acts, where their rule is AskAdvised; "" asks none

	Sites string        // hosts that may be opened without asking, see [Approval.IsOutsideSites]
	Wait  time.Duration // after which silence is a no
}

// Values of the fields of [Approval].
const (
	AskAllow  = "allow"
	AskFirst  = "ask"
	AskRefuse = "refuse"
	// AskAdvised is AskFirst, unless a model takes an unclear act for harmless.
	AskAdvised = "advise"
)

// Rule returns the rule for a class of actions by its name, as in the keys of the
// settings; a class that is not known is asked about.
func (a Approval) Rule(class string) string {
	if f, ok := FindField(approvalKeys + class); ok && f.Kind == KindChoice {
		return f.Get(Settings{Approval: a}).(string)
	}
	return AskFirst
}

// IsOutsideSites reports whether a host (with its port, if it has one) is outside the sites
// that are listed. Where none is listed, none is outside.
func (a Approval) IsOutsideSites(host string) bool {
	sites := strings.Fields(strings.ToLower(a.Sites))
	if len(sites) == 0 {
		return false
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	name, _, _ := strings.Cut(host, ":")
	return !slices.ContainsFunc(sites, func(s string) bool {
		if below, ok := strings.CutPrefix(s, "*."); ok {
			return strings.HasSuffix(name, "."+below)
		}
		return s == host || s == name
	})
}

func approvalField(class, label, effect, rule string, at *string, more ...Option) Field {
	return choice(approvalKeys+class, label, effect, rule, at,
		append([]Option{{AskAllow, "Allow"}, {AskFirst, "Ask first"}, {AskRefuse, "Refuse"}}, more...)...)
}

func checkSites(s string) error {
	for site := range strings.FieldsSeq(s) {
		if strings.ContainsAny(site, "/,;\"'") || strings.Contains(strings.TrimPrefix(site, "*."), "*") {
			return errors.New("must be host names separated by spaces or lines, such as example.com or *.example.com")
		}
	}
	return nil
}
