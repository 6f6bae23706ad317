package control

import (
	"fmt"
	"net/http"

	"clank/browsermgr/page/action/actiontable"
)

// checkPersonalBrowser refuses what the contract keeps from browsers that a person uses. What else the contract lets servers refuse
// there works here: buttons, modifiers, several values, timeouts, and waiting for a quiet network.
func checkPersonalBrowser(h *heldTab, a actRequest) error {
	if !h.Lease.Joined() {
		return nil
	}
	refuse := func(what, instead string) error {
		return actError(http.StatusNotImplemented, codePersonal,
			fmt.Errorf("%s is not supported for existing-session profiles such as %q: %s", what, h.Profile.Name, instead))
	}
	selector := a.StartSelector != "" || a.EndSelector != "" || a.Selector != "" && a.Kind != actiontable.KindWait
	switch {
	case a.Kind == actiontable.KindBatch:
		return refuse("batch", "send its actions one by one")
	case a.Kind == actiontable.KindDragCoords:
		return refuse("dragCoords", "use drag with refs")
	case selector:
		return refuse(string(a.Kind)+" by selector", "take a snapshot and use a ref of it")
	case a.Kind == actiontable.KindType && a.Slowly:
		return refuse("type slowly", "leave slowly out")
	case a.Kind == actiontable.KindPress && a.DelayMs > 0:
		return refuse("press with delayMs", "leave delayMs out")
	}
	return nil
}
