package browseagent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// maxLinksState bounds the page state from which links are read, in bytes. It is
// larger than what a model is shown, because only the links remain.
const maxLinksState = 400_000

var urlAttr = regexp.MustCompile(`\[url=([^\]\s]+)\]`)

// readLinks lists the links of a page state that tells their addresses, each
// address once, as lines of `- "text" → address`. A state tells an address in
// the line of the link ([url=…]) or in a property line below it (/url: …).
func readLinks(state string) string {
	var out strings.Builder
	seen := map[string]bool{}
	add := func(name, to string) {
		if to == "" || seen[to] {
			return
		}
		seen[to] = true
		fmt.Fprintf(&out, "- %s → %s\n", quote(name), to)
	}
	var link element
	depth, inside := 0, false // of the link whose property lines may follow
	for line := range strings.Lines(state) {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		inside = inside && indent > depth
		if to, ok := strings.CutPrefix(trimmed, "- /url:"); ok && inside {
			add(link.name, unquoted(to))
			continue
		}
		e := readElement(strings.TrimSpace(line))
		if e.role != "link" {
			continue
		}
		link, depth, inside = e, indent, true
		if link.name == "" {
			_, link.name, _ = strings.Cut(strings.TrimSpace(trimmed), "]: ")
		}
		if to := urlAttr.FindStringSubmatch(line); to != nil {
			add(link.name, to[1])
		}
	}
	return out.String()
}

// unquoted is a property's value, which may be a JSON string.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	var v string
	if json.Unmarshal([]byte(s), &v) == nil {
		return v
	}
	return s
}
