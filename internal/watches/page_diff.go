package watches

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"clank/internal/untrusted"
)

// Limits of the stored state of a page.
const (
	maxLines     = 1500
	maxLineChars = 500
	maxNoise     = 200
)

// comparableLines splits a page's text into the pieces that are compared.
func comparableLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(plainLine(line)), " ")
		if !hasText(line) || isAdLabel(line) {
			continue
		}
		if out = append(out, untrusted.Shorten(line, maxLineChars)); len(out) == maxLines {
			break
		}
	}
	return out
}

// hasText reports whether a line contains a letter or a digit.
func hasText(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// linePatterns are compiled once.
type linePatterns struct {
	link   *regexp.Regexp // of Markdown
	emph   *regexp.Regexp
	escape *regexp.Regexp
	clock  *regexp.Regexp
	ago    *regexp.Regexp
	count  *regexp.Regexp
	digits *regexp.Regexp
	label  *regexp.Regexp
}

var linePatternSet = sync.OnceValue(func() *linePatterns {
	const (
		units = `(?:second|sec|minute|min|hour|hr|day|week|month|year|sekunde|minute|stunde|tag|tage|woche|monat|jahr|seconde|heure|jour|semaine|mois|an|segundo|minuto|hora|día|dia|semana|mes|año)\pL{0,2}`
		n     = `\d[\d.,]*\s?(?:k|m|mio|tsd)?\.?`
	)
	return &linePatterns{
		link:   regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)|<https?://[^<>\s]*>`),
		emph:   regexp.MustCompile("[*_`]{1,3}"),
		escape: regexp.MustCompile(`\\([[:punct:]])`),
		clock:  regexp.MustCompile(`(?i)\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:am|pm|uhr|utc|gmt|cet|cest)\b)?`),
		ago: regexp.MustCompile(`(?i)\b(?:(?:\d+|an?|one|einer?|einem) ` + units +
			` ago|(?:vor|il y a|hace) (?:\d+|einer?|einem|une?|una?) ` + units + `|just now|gerade eben)\b`),
		count: regexp.MustCompile(`(?i)\b` + n +
			`\s(?:(?:people|persons|users|others|personen|leute)\s)?(?:(?:have|are|haben|sind)\s)?` +
			`(?:views?|viewing|viewers?|viewed|likes?|comments?|replies|shares?|followers?|online|watching|visitors?|votes?|upvotes?|points?|downloads?|` +
			`aufrufe|kommentare|besucher|zuschauer|gefällt|antworten|vues|commentaires|abonnés|visitas|comentarios|seguidores)\b`),
		digits: regexp.MustCompile(`\d+`),
		label: regexp.MustCompile(
			`(?i)^(?:advertisement|advertising|sponsored|promoted|ad|ads|anzeige|werbung|publicité|annonce|publicidad|anuncio|pubblicità|reklama)[:.]?$`),
	}
})

// plainLine returns a line of Markdown without its marks and the addresses of its links,
// which often carry numbers of the visit.
func plainLine(line string) string {
	p := linePatternSet()
	line = p.link.ReplaceAllString(line, "$1")
	line = p.emph.ReplaceAllString(line, "")
	line = p.escape.ReplaceAllString(line, "$1")
	return strings.TrimLeft(line, "#>-+| \t")
}

func isAdLabel(line string) bool { return linePatternSet().label.MatchString(line) }

// lineKey returns the part of a line that must differ for the line to count as changed. It leaves out the time
// of day, how long ago something was, and view counts.
func lineKey(line string) string {
	p := linePatternSet()
	line = p.clock.ReplaceAllString(line, "§")
	line = p.ago.ReplaceAllString(line, "§")
	line = p.count.ReplaceAllString(line, "§")
	return strings.ToLower(line)
}

// lineShape returns a line without its numbers.
func lineShape(line string) string {
	return linePatternSet().digits.ReplaceAllString(lineKey(line), "#")
}

// pageDiff is what differs between two looks at a page.
type pageDiff struct {
	added, removed []string
}

func (d pageDiff) empty() bool { return len(d.added) == 0 && len(d.removed) == 0 }

// comparePages tells what is in one of two looks only, without lines whose shape is
// noise. Lines that moved are no difference.
func comparePages(before, after, noise []string) pageDiff {
	count := make(map[string]int)
	for _, l := range before {
		count[lineKey(l)]++
	}
	var d pageDiff
	for _, l := range after {
		if k := lineKey(l); count[k] > 0 {
			count[k]--
		} else if !slices.Contains(noise, lineShape(l)) {
			d.added = append(d.added, l)
		}
	}
	for _, l := range slices.Backward(before) {
		if k := lineKey(l); count[k] > 0 {
			count[k]--
			if !slices.Contains(noise, lineShape(l)) {
				d.removed = append(d.removed, l)
			}
		}
	}
	slices.Reverse(d.removed)
	return d
}

// findNoise returns the shapes of the lines that changed from one look to the next
// though hardly any time had gone by, added to those that are known. What stood
// in the place of such a line at an earlier look is noise as well.
func findNoise(known []string, before, first, second []string) []string {
	out := slices.Clone(known)
	note := func(l string) {
		if s := lineShape(l); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	d := comparePages(first, second, nil)
	for _, l := range slices.Concat(d.added, d.removed) {
		note(l)
	}
	places := make(map[string]bool)
	for _, look := range [][]string{first, second} {
		for l, place := range withPrevious(look, out) {
			if slices.Contains(out, lineShape(l)) {
				places[place] = true
			}
		}
	}
	lost := comparePages(before, second, out).removed
	for l, place := range withPrevious(before, out) {
		if places[place] && slices.Contains(lost, l) {
			note(l)
		}
	}
	if n := len(out); n > maxNoise {
		out = out[n-maxNoise:]
	}
	return out
}

// withPrevious yields each line with the line before it that is no noise.
func withPrevious(list, noise []string) iter.Seq2[string, string] {
	return func(yield func(l, place string) bool) {
		last := ""
		for _, l := range list {
			if !yield(l, last) {
				return
			}
			if !slices.Contains(noise, lineShape(l)) {
				last = lineKey(l)
			}
		}
	}
}

// linesNear keeps the lines around the first that has the words, nil if none has.
// Empty words are beside everything.
func linesNear(all []string, words string) []string {
	words = strings.ToLower(strings.Join(strings.Fields(words), " "))
	if words == "" {
		return all
	}
	i := slices.IndexFunc(all, func(l string) bool { return strings.Contains(strings.ToLower(l), words) })
	if i < 0 {
		return nil
	}
	return all[max(0, i-2):min(len(all), i+8)]
}
