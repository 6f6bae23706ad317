package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SystemPrompt returns what a model is told before the conversation: the instructions, the date, the places that
// people call by a name (to their URLs), and what the operator adds.
func SystemPrompt(instructions string, now time.Time, places map[string]string, extra string) string {
	var b strings.Builder
	b.WriteString(instructions)
	fmt.Fprintf(&b, "\n\nToday is %s.", now.Format("Monday, 2 January 2006"))
	if len(places) > 0 {
		b.WriteString("\n\nPlaces that people call by a name:")
		for _, name := range slices.Sorted(maps.Keys(places)) {
			fmt.Fprintf(&b, "\n- %s: %s", name, places[name])
		}
	}
	if extra = strings.TrimSpace(extra); extra != "" {
		b.WriteString("\n\nFrom the operator of this program:\n" + extra)
	}
	return b.String()
}
