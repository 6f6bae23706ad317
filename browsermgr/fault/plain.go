package fault

import (
	"regexp"
	"strings"
	"sync"
)

// actPrefix matches the address at the beginning of a navigation's error, which whoever asked for it knows.
var actPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^navigate [^"\s]+: `) })

// PlainText returns the text of an error as people and models read it: without what is only for programs.
func PlainText(text string) string {
	text = strings.Replace(text, " ("+ErrNotInteractable.Error()+")", "", 1)
	return actPrefix().ReplaceAllString(text, "")
}
