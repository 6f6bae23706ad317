package intent

import (
	"regexp"
	"sync"

	"clank/browsermgr/page"
	"clank/internal/untrusted"
	"clank/sessions"
)

var dialogPatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	m := map[string]*regexp.Regexp{}
	for _, kind := range []string{ClassBuy, ClassDelete, ClassSend, "remove"} {
		m[kind] = regexp.MustCompile(wordPattern(classWords[kind]))
	}
	return m
})

// JudgeDialog judges the acceptance of a dialog by what it says: "Delete all messages?"
// deletes. A question to leave the page sets nothing off.
func JudgeDialog(d page.Dialog, at string) sessions.Assessment {
	if d.Type != "confirm" && d.Type != "prompt" {
		return sessions.Assessment{}
	}
	text := foldText(d.Message)
	v := scriptVerdict{At: at, Names: []string{untrusted.Shorten(cleanLine(d.Message), 200)}}
	for _, class := range []string{ClassBuy, ClassDelete, ClassSend} {
		if dialogPatterns()[class].MatchString(text) || class == ClassDelete && dialogPatterns()["remove"].MatchString(text) {
			v.Classes = append(v.Classes, class)
		}
	}
	if len(v.Classes) > 0 {
		v.Fingerprint = d.ID + "\x00" + d.Message
	}
	return v.toJudgement()
}

// JudgeAddress judges going to an address from the page at.
func JudgeAddress(address, at string) sessions.Assessment {
	to := hostOf(address)
	if to == "" || to == hostOf(at) {
		return sessions.Assessment{}
	}
	q := sessions.Question{Classes: []string{ClassLeave}, TargetHost: to, Origin: "https://" + to}
	q.Text = describeClasses(q, nil, to)
	return sessions.Assessment{Question: q, Mark: address}
}

// cleanLine drops what text must not contain that is shown on one line.
func cleanLine(s string) string {
	return invisibleRunes().ReplaceAllString(s, " ")
}

var invisibleRunes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{C}\p{Zl}\p{Zp}\s]+`) })
