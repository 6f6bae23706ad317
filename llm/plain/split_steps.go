package plain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Words that lead or follow a step and mean nothing to it.
var (
	leading = []string{
		"please", "now", "first", "firstly", "next", "finally", "lastly", "afterwards", "also", "just", "and", "then",
		"ok", "okay", "hey", "again", "&",
	}
	trailing = []string{"please", "now", "thanks"}
	polite   = []string{"can you", "could you", "would you", "after that", "i want you to"}
)

var listMarker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d{1,3}[.)]|[-*•–])$`) })

// splitSteps divides an instruction into the phrases of its steps: at commas, semicolons and line ends, at "then", at
// "and" and at the end of a sentence if a step begins there, and at the numbers of a list.
func splitSteps(ts []token) []phrase {
	var ps []phrase
	var p phrase
	end := func() {
		if p = trimFiller(p); len(p) > 0 {
			ps = append(ps, p)
		}
		p = nil
	}
	all := phrase(ts)
	for i, t := range ts {
		switch {
		case t.pause, all.is(i, "then"):
			end()
		case all.is(i, "and", "&") && all.is(i+1, "then"):
			end()
		case all.is(i, "and", "&") && startsStep(all[i+1:]) && !p.goesOn(all[i+1:]):
			end()
		case all.is(i, "and", "&") && trimLeading(p).is(0, repeated...) && all[i+1:].startsQuoted() && !all[i+1:].hasJoint():
			end()
		case all.is(i, "and", "&") && repeatsStep(withVerb(ps, trimLeading(p)), all[i+1:]):
			verb := withVerb(ps, trimLeading(p))[0]
			end()
			verb.start = all[i+1].start // what a person reads begins where the step does
			p = phrase{verb}
		case !t.quoted && listMarker().MatchString(t.text) && (len(p) == 0 || startsStep(all[i+1:])):
			end()
		case len(p) > 0 && sentenceEnd(p[len(p)-1]) && startsStep(all[i:]):
			end()
			p = append(p, t)
		default:
			p = append(p, t)
		}
	}
	end()
	return ps
}

// sentenceEnd reports whether a sentence may end with t.
func sentenceEnd(t token) bool {
	return !t.quoted && strings.ContainsAny(t.text[len(t.text)-1:], ".!?")
}

// joints stand, after a verb, between what goes where and the place.
var joints = byWord(map[string][]string{
	"type|write|put|enter|input": {"into", "in", "as"}, "fill|replace": {"with"}, "set|change": {"to"},
	"select|choose|pick": {"in", "from"}, "drag|move": {"to", "onto"},
})

// withVerb returns a phrase with the verb that it repeats, if it has none: "set A to 1, B to 2".
func withVerb(ps []phrase, p phrase) phrase {
	for _, before := range slices.Backward(ps) {
		if stepReaders[p.word(0)] == nil && joints[before.word(0)] != nil {
			return append(phrase{before[0]}, p...)
		}
	}
	return p
}

// repeatsStep reports whether rest begins with a step like p, said without its verb: "type a into A and b into B".
func repeatsStep(p, rest phrase) bool {
	for i := range rest {
		if rest[i].pause || rest.is(i, "then") {
			rest = rest[:i]
			break
		}
	}
	return slices.ContainsFunc(joints[p.word(0)], func(w string) bool {
		at, again := p.last(w), rest.last(w)
		return at > 1 && at < len(p)-1 && again > 0 && again < len(rest)-1
	})
}

// maxLead bounds how many words may lead a step, so that a long run of them is not read over and over.
const maxLead = 8

// startsStep reports whether a step begins with p.
func startsStep(p phrase) bool {
	p = trimLeading(p[:min(maxLead, len(p))])
	return stepReaders[strings.TrimRight(p.word(0), ".!?")] != nil || p.is(0, "then") || isButton(trimFiller(p.sentence()))
}

// sentence returns the words up to the next break between steps.
func (p phrase) sentence() phrase {
	for i := range p {
		if p[i].pause || p.is(i, "then", "and", "&") {
			return p[:i]
		}
	}
	return p
}

// goesOn reports whether rest is more of the text that p types, as in "type rock and sort into Search": the place is
// still to come.
func (p phrase) goesOn(rest phrase) bool {
	p, rest = trimLeading(p), rest.sentence()
	verbs := joints[p.word(0)]
	return slices.Contains(verbs, "into") && p.last(verbs...) < 0 && joints[rest.word(0)] == nil && rest.last("into") > 0
}

func (p phrase) startsQuoted() bool { return len(p) > 0 && p[0].quoted }

// hasJoint reports whether a list of names ends with the place where they are.
func (p phrase) hasJoint() bool { return p.sentence().last("in", "from") > 0 }

// trimLeading drops words that lead a step and mean nothing to it.
func trimLeading(p phrase) phrase {
	for {
		before := len(p)
		if p.is(0, leading...) && (len(p) > 1 || !p.is(0, "ok")) { // alone it is the name of a button
			p = p[1:]
		}
		for _, words := range polite {
			if n := len(strings.Fields(words)); len(p) >= n && p[:n].lower() == words {
				p = p[n:]
			}
		}
		if len(p) == before {
			return p
		}
	}
}

// trimFiller drops what leads and follows a step, and the punctuation at its end.
func trimFiller(p phrase) phrase {
	p = slices.Clone(trimLeading(p))
	for len(p) > 0 {
		last := len(p) - 1
		if !p[last].quoted {
			bare := strings.TrimRight(p[last].text, ".!?:")
			p[last].end -= len(p[last].text) - len(bare)
			p[last].text = bare
		}
		switch {
		case p.is(last, "now") && (stepReaders[p.word(0)] == nil || p.is(0, "click", "tap", "press", "choose")):
			// It may be a part of the name.
			return p
		case p[last].text == "" && !p[last].quoted, p.is(last, trailing...):
			p = p[:last]
		case last >= 1 && p.is(last, "me") && p.is(last-1, "for"):
			p = p[:last-1]
		default:
			return p
		}
	}
	return p
}
