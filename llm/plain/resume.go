package plain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// continuePhrases are the words that ask to go on with the instruction before.
var continuePhrases = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:please |bitte )?(?:continue|go on|carry on|keep going|resume|` +
		`(?:mach(?:e)? )?weiter|fahr(?:e)? fort|continuez|continua|contin[uú]a|sigue|prosegui)[\s.!]*$`)
})

// asksToContinue reports whether an instruction asks to go on with the one before.
func asksToContinue(instruction string) bool {
	return continuePhrases().MatchString(strings.TrimSpace(instruction))
}

// resume returns c as it is to be gone on with. Where the newest instruction only asks to go on, that is with the
// last one that has steps, at the first of them that was not done; what was seen before is not relied on.
func (c conversation) resume(places places) conversation {
	if !asksToContinue(c.instruction) {
		return c
	}
	for i, r := range slices.Backward(c.rounds[:len(c.rounds)-1]) {
		for _, res := range r.results {
			if !res.look && !res.failed {
				c.done = max(c.done, res.step+1)
			}
		}
		if asksToContinue(r.instruction) {
			continue
		}
		if steps, err := parseInstruction(r.instruction, places); err == nil && len(steps) > 0 {
			c.instruction, c.rounds = r.instruction, c.rounds[:i+1]
			return c
		}
	}
	c.done = 0
	return c
}
