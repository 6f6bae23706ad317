package page

import "clank/browsermgr/address"

// ParseAddress reads what a person typed as a web address: http, https or about:blank. Anything else is refused with an error
// that wraps [ErrInvalid] and names it. See [address.Parse].
func ParseAddress(text string) (string, error) { return address.Parse(text) }
