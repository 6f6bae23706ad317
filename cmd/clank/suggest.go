package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// didYouMean names the known words that are close to one that is not known, as the end of a message; "" if none or many are.
// It is cobra that finds them, except for those that end with the word.
func didYouMean(word string, known []string) string {
	group := &cobra.Command{SuggestionsMinimumDistance: max(2, len(word)/4)}
	for _, name := range known {
		if len(word) > 3 && strings.HasSuffix(name, strings.TrimLeft(word, "-")) {
			return "; did you mean " + name + "?"
		}
		group.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if similar := group.SuggestionsFor(word); word != "" && len(similar) > 0 && len(similar) <= 3 {
		return "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return ""
}
