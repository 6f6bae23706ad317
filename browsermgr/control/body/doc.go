// Package body reads what a request of the control API carries: the fields of its JSON object and its query, with the
// coercions that clients rely on.
//
// A malformed field is an error that names it and wraps [fault.ErrInvalid]; an absent, null or blank one is undefined. The
// package does not know routes, and it does not answer requests.
package body
