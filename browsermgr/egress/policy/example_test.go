package policy_test

import (
	"errors"
	"fmt"

	"clank/browsermgr/egress/policy"
)

func ExamplePolicy_CheckURL() {
	p, err := policy.Compile(policy.Rules{AllowedHosts: []string{"printer.local"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, raw := range []string{"https://example.com/", "http://printer.local/", "http://0x7f.1/", "file:///etc/passwd"} {
		_, err := p.CheckURL(raw)
		if refusal, ok := errors.AsType[*policy.Refusal](err); ok {
			fmt.Println(raw, "is refused by rule", refusal.Rule)
			continue
		}
		fmt.Println(raw, "may be reached")
	}
	// Output:
	// https://example.com/ may be reached
	// http://printer.local/ may be reached
	// http://0x7f.1/ is refused by rule private-address
	// file:///etc/passwd is refused by rule scheme
}
