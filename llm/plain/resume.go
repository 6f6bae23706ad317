package plain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// goOnWords are the words that ask to go on with the instruction before.
var goOnWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:please |bitte )?(?:continue|go on|carry on|keep going|resume|(?:mach(?:e)? )?weiter|fahr(?:e)? fort|continuez|continua|contin[uú]a|sigue|prosegui)[\s.!]*$`)
})

// goesOn reports whether an instruction asks to go on with the one before.
func goesOn(instruction string) bool {
	return goOnWords().MatchString(strings.TrimSpace(instruction))
}

// resumed returns c as it is to be gone on with. Where the newest instruction
// only asks to go on, that is with the last one that has steps, at the first of
// them that was not done; what was seen before is not relied on.
func (c conversation) resumed(places places) conversation {
	if !goesOn(c.instruction) {
		return c
	}
	for i, r := range slices.Backward(c.rounds[:len(c.rounds)-1]) {
		for _, res := range r.results {
			if !res.look && !res.failed {
				c.done = max(c.done, res.step+1)
			}
		}
		if goesOn(r.instruction) {
			continue
		}
		if steps, err := parse(r.instruction, places); err == nil && len(steps) > 0 {
			c.instruction, c.before = r.instruction, c.before[:i]
			return c
		}
	}
	c.done = 0
	return c
}
