package browsermgr

import (
	"context"

	"clank/browsermgr/arguments"
)

// links lists where the visible links of the page lead, as "text -> address".
func links(ctx context.Context, _ *Window, u use, _ arguments.Values) ([]string, error) {
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
