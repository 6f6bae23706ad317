package settings

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Approval configures which actions people are asked about: a rule for each class of action, see the Ask constants.
type Approval struct {
	Submit, Buy, Send, Delete, Permission, Executable, Leave, Host, Login, Safety, Unclear string

	UnclearModel string // classifies unclear actions if their rule is AskAdvised; "" means none

	Sites string        // hosts that may be opened without a question, see [Approval.IsOutsideSites]
	Wait  time.Duration // time after which an unanswered question is refused
}

// Values of the fields of [Approval].
const (
	AskAllow  = "allow"
	AskFirst  = "ask"
	AskRefuse = "refuse"
	// AskAdvised is like AskFirst, unless a model considers an unclear action harmless.
	AskAdvised = "advise"
)

// Rule returns the rule for a class of actions, named as in the keys of the settings; people are asked about unknown
// classes.
func (a Approval) Rule(class string) string {
	if f, ok := FindField(approvalKeys + class); ok && f.Kind == KindChoice {
		return f.Get(Settings{Approval: a}).(string)
	}
	return AskFirst
}

// IsOutsideSites reports whether a host (with its port, if it has one) is not among the listed sites. If none is
// listed it returns false.
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
