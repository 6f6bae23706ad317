package browsertool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"
)

func TestAGuestReachesOwnProfilesAndOwnTabsAlone(t *testing.T) {
	a := newAPI(t)
	a.on("POST /tabs/open", 200, `{"ok":true,"targetId":"RAW2","tabId":"t2","label":"mine","url":"https://x.test/"}`)
	a.on("GET /tabs", 200, `{"running":true,"tabs":[{"targetId":"RAW1","tabId":"t1","url":"https://mail.test/"},`+
		`{"targetId":"RAW2","tabId":"t2","url":"https://x.test/"},{"targetId":"RAW4","tabId":"t4","openerId":"RAW3"},`+
		`{"targetId":"RAW3","tabId":"t3","openerId":"RAW2"},{"targetId":"RAW5","tabId":"t5","openerId":"RAW1"}]}`)
	a.on("DELETE /tabs/RAW3", 200, `{"ok":true,"targetId":"RAW3"}`)
	a.on("DELETE /tabs/RAW4", 200, `{"ok":true,"targetId":"RAW4"}`)
	a.on("GET /text", 200, `{"ok":true,"targetId":"RAW2","url":"https://x.test/","text":"hello"}`)
	a.on("POST /act", 200, `{"ok":true,"targetId":"RAW2","url":"https://x.test/"}`)
	a.on("DELETE /tabs/RAW2", 200, `{"ok":true,"targetId":"RAW2"}`)
	s := a.session()
	guest := &browsertool.Guest{Profile: func(want string) (string, error) {
		if want == "" || want == "guests" {
			return "guests", nil
		}
		return "", errors.New("the browser profile is not yours to use")
	}}
	const looked, foreign = "GET /tabs?profile=guests", "no tab of this conversation"
	for _, c := range []struct{ in, asked, text string }{
		{`{"action":"text"}`, "", "no tab of this conversation"},
		{`{"action":"open","url":"https://x.test/"}`, "POST /tabs/open?profile=guests", ""},
		{`{"action":"tabs"}`, "GET /tabs?profile=guests", "RAW2"},
		{`{"action":"tabs","profile":"work"}`, "", "not yours to use"},
		{`{"action":"text"}`, "GET /text?profile=guests&targetId=RAW2", "hello"},
		{`{"action":"text","targetId":"mine"}`, "GET /text?profile=guests&targetId=RAW2", "hello"},
		{`{"action":"text","targetId":"t1"}`, looked, foreign},
		{`{"action":"text","targetId":"RAW1"}`, looked, foreign},
		{`{"action":"text","targetId":"RAW5"}`, looked, foreign}, // a popup of another session
		{`{"action":"text","targetId":"t4"}`, "GET /text?profile=guests&targetId=RAW4", "hello"},
		{`{"action":"text","targetId":"mine"}`, "GET /text?profile=guests&targetId=RAW2", "hello"},
		{`{"action":"act","request":{"kind":"click","ref":"e1","targetId":"t1"}}`, looked, foreign},
		{`{"action":"act","request":{"kind":"click","ref":"e1"}}`, `"targetId":"RAW2"`, ""},
		{`{"action":"close","targetId":"t1"}`, looked, foreign},
		{`{"action":"start"}`, "", "for the operator"},
		{`{"action":"stop"}`, "", "for the operator"},
		{`{"action":"profiles"}`, "", "for the operator"},
		{`{"action":"close"}`, "DELETE /tabs/RAW2?profile=guests", ""},
		{`{"action":"text"}`, "GET /text?profile=guests&targetId=RAW4", "hello"},
	} {
		r, err := s.RunAs(t.Context(), s.Tool, guest, json.RawMessage(c.in))
		check.Must(t, err)
		asked := a.taken()
		if (asked == "") != (c.asked == "") || !strings.Contains(asked, c.asked) || !strings.Contains(r.Text, c.text) ||
			strings.Contains(r.Text, "mail.test") {
			t.Errorf("%s: asked %q, want %q; answer %s", c.in, asked, c.asked, r.Text)
		}
	}
	check.Must(t, s.Close(t.Context()))
	check.Contains(t, a.taken(), "DELETE /tabs/RAW3?profile=guests", "DELETE /tabs/RAW4?profile=guests")
}
