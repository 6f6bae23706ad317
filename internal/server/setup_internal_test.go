package server

import (
	"strings"
	"testing"

	"clank/dashboard/api"
)

func TestTheSetUpTriesThePublicAddress(t *testing.T) {
	e := openEffects(t)
	for at, want := range map[string]struct {
		state api.SetupState
		says  string
	}{
		e.CallService.ViewerURL(): {api.SetupReady, ""},
		e.page:                    {api.SetupOptional, "does not lead to shared browsers: status 200 comes from elsewhere"},
		"http://127.0.0.1:1":      {api.SetupOptional, "connection refused"},
	} {
		e.set(map[string]string{keyShare + "publicUrl": `"` + at + `"`})
		list := setup{e.Server}.SetupChecks(t.Context())
		c := list[len(list)-1]
		if c.State != want.state || !strings.Contains(c.Detail, want.says) || (c.Fix == "") != (c.State == api.SetupReady) {
			t.Errorf("%s: %+v, want %s and %q", at, c, want.state, want.says)
		}
	}
}
