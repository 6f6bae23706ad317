package intent

import (
	"regexp"
	"slices"
	"sync"

	"clank/browsermgr/page"
)

var said = sync.OnceValue(func() map[string]*regexp.Regexp {
	m := map[string]*regexp.Regexp{}
	for _, kind := range []string{Buy, Delete, Send, "remove"} {
		m[kind] = regexp.MustCompile(pattern(words[kind]))
	}
	return m
})

// OfDialog judges the acceptance of a dialog by what it says: "Delete all messages?"
// deletes. A question to leave the page sets nothing off.
func OfDialog(d page.Dialog, at string) Judgement {
	if d.Type != "confirm" && d.Type != "prompt" {
		return Judgement{}
	}
	text := fold(d.Message)
	v := verdict{At: at, Names: []string{clip(clean(d.Message), 200)}}
	for _, class := range []string{Buy, Delete, Send} {
		if said()[class].MatchString(text) || class == Delete && said()["remove"].MatchString(text) {
			v.Classes = append(v.Classes, class)
		}
	}
	if len(v.Classes) > 0 {
		v.Mark = d.ID + "\x00" + d.Message
	}
	return v.judgement()
}

// OfAddress judges going to an address from the page at.
func OfAddress(address, at string) Judgement {
	to := hostOf(address)
	if to == "" || to == hostOf(at) {
		return Judgement{}
	}
	j := Judgement{Classes: []string{Leave}, To: to, Origin: "https://" + to, Mark: address}
	j.Text = sentence(j, nil, to)
	return j
}

// clean drops what text must not contain that is shown on one line.
func clean(s string) string {
	return unseen().ReplaceAllString(s, " ")
}

var unseen = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{C}\p{Zl}\p{Zp}\s]+`) })

// Has reports whether the judgement is of class c.
func (j Judgement) Has(c string) bool { return slices.Contains(j.Classes, c) }
