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
	a.on("GET /tabs", 200, `{"running":true,"tabs":[{"targetId":"RAW1","tabId":"t1","url":"https://mail.test/"},{"targetId":"RAW2","tabId":"t2","url":"https://x.test/"}]}`)
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
	for _, c := range []struct{ in, asked, text string }{
		{`{"action":"text"}`, "", "no tab of this conversation"},
		{`{"action":"open","url":"https://x.test/"}`, "POST /tabs/open?profile=guests", ""},
		{`{"action":"tabs"}`, "GET /tabs?profile=guests", "RAW2"},
		{`{"action":"tabs","profile":"work"}`, "", "not yours to use"},
		{`{"action":"text"}`, "GET /text?profile=guests&targetId=RAW2", "hello"},
		{`{"action":"text","targetId":"mine"}`, "GET /text?profile=guests&targetId=RAW2", "hello"},
		{`{"action":"text","targetId":"t1"}`, "", "no tab of this conversation"},
		{`{"action":"text","targetId":"RAW1"}`, "", "no tab of this conversation"},
		{`{"action":"act","request":{"kind":"click","ref":"e1","targetId":"t1"}}`, "", "no tab of this conversation"},
		{`{"action":"act","request":{"kind":"click","ref":"e1"}}`, `"targetId":"RAW2"`, ""},
		{`{"action":"close","targetId":"t1"}`, "", "no tab of this conversation"},
		{`{"action":"start"}`, "", "for the operator"},
		{`{"action":"stop"}`, "", "for the operator"},
		{`{"action":"profiles"}`, "", "for the operator"},
		{`{"action":"close"}`, "DELETE /tabs/RAW2?profile=guests", ""},
		{`{"action":"text"}`, "", "no tab of this conversation"},
	} {
		r, err := s.RunAs(t.Context(), s.Tool, guest, json.RawMessage(c.in))
		check.Must(t, err)
		asked := a.taken()
		if (asked == "") != (c.asked == "") || !strings.Contains(asked, c.asked) || !strings.Contains(r.Text, c.text) || strings.Contains(r.Text, "mail.test") {
			t.Errorf("%s: asked %q, want %q; answer %s", c.in, asked, c.asked, r.Text)
		}
	}
}
