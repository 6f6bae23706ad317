package control

import (
	"context"
	"fmt"
	"net/http"

	"clank/browsermgr/page"
)

// findObserver finds the observer of that type among those of the tab's connection.
func findObserver[T page.Observer](h *heldTab) (found T, ok bool) {
	for _, o := range h.Lease.Observers {
		if found, ok = o.(T); ok {
			return found, true
		}
	}
	return found, false
}

// requireObserver returns the observer of type T, or an error if there is none. what names the use of it for the
// message, as in "recording".
func requireObserver[T page.Observer](h *heldTab, what string) (T, error) {
	found, ok := findObserver[T](h)
	if !ok {
		return found, &StatusError{
			Status: http.StatusNotImplemented, Err: fmt.Errorf("%s is not available in the browser of profile %q", what, h.Profile.Name),
		}
	}
	return found, nil
}

// withObserver works with the tab that the request means and the observer of type T. Requests that show or take what the page holds are
// permitted, which checks the page's address against the policy.
func withObserver[T page.Observer, R any](
	ctx context.Context, c *Call, permitted bool, what string, work func(*heldTab, T) (R, error),
) (out R, err error) {
	find := c.TargetTab
	if permitted {
		find = c.PermittedTab
	}
	h, err := find(ctx)
	if err != nil {
		return out, err
	}
	defer h.Release()
	found, err := requireObserver[T](h, what)
	if err != nil {
		return out, err
	}
	return work(h, found)
}
