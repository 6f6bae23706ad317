package browsertool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzFrames checks that whatever arrives, only whole messages are passed on,
// each on a line of its own, and everything else is answered with an error.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"", "\n\r\n", "garbage\n", `{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\r\n[]\n{}", "\x00{\n}",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 200), `{"jsonrpc":"2.0","id":null,"error":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var refused bytes.Buffer
		passed, err := io.ReadAll(newMessageReader(io.NopCloser(bytes.NewReader(in)), &refused))
		if err != nil {
			t.Fatal(err)
		}
		given := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimSpace(line)) > 0 {
				given++
			}
		}
		got := 0
		for s := bufio.NewScanner(bytes.NewReader(passed)); s.Scan(); got++ {
			if _, err := jsonrpc.DecodeMessage(s.Bytes()); err != nil {
				t.Errorf("%q was passed on", s.Bytes())
			}
		}
		for s := bufio.NewScanner(&refused); s.Scan(); got++ {
			var answer struct {
				ID    any
				Error struct{ Code int }
			}
			if json.Unmarshal(s.Bytes(), &answer) != nil || answer.ID != nil || answer.Error.Code == 0 {
				t.Errorf("answered with %q", s.Bytes())
			}
		}
		if got != given {
			t.Errorf("%q: %d of %d lines were dealt with", in, got, given)
		}
	})
}
