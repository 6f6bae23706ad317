package desk

import (
	"fmt"
	"net/http"

	"clank/browsermgr/control/reply"
	"clank/browsermgr/page"
)

// Lookup finds the observer of that type among those of the tab's connection.
func Lookup[T page.Observer](h *Held) (found T, ok bool) {
	for _, o := range h.Use.Observers {
		if found, ok = o.(T); ok {
			return found, true
		}
	}
	return found, false
}

// Feature is Lookup for those who cannot do without. what is what they want it for, as in "recording".
func Feature[T page.Observer](h *Held, what string) (T, error) {
	found, ok := Lookup[T](h)
	if !ok {
		return found, &reply.StatusError{
			Status: http.StatusNotImplemented, Err: fmt.Errorf("%s is not available in the browser of profile %q", what, h.Desk.Name),
		}
	}
	return found, nil
}
