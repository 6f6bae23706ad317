package browsermgr

import (
	"context"

	"clank/browsermgr/page/action/actiontable"
)

// runLinks lists where the visible links of the page lead, as "text -> address".
func runLinks(ctx context.Context, _ *Window, u tabLease, _ actiontable.Values) ([]string, error) {
	found, err := u.tab.Links(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(found))
	for i, l := range found {
		lines[i] = l.Text + " -> " + l.URL
	}
	return lines, nil
}
