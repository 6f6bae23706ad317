package control_test

import (
	"testing"

	"clank/browsermgr/control"
)

func TestErrorsShowNoCredentials(t *testing.T) {
	for text, want := range map[string]string{
		"dial wss://ada:pw@host/x?apiKey=abc&y=1: refused": "dial wss://[redacted]@host/x?apiKey=[redacted]&y=1: refused",
		"GET http://h/json?token=t&access_token=u":         "GET http://h/json?token=[redacted]&access_token=[redacted]",
		"nothing to hide at https://example.com/a@b?q=1":   "nothing to hide at https://example.com/a@b?q=1",
	} {
		if got := control.RedactCredentials(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
