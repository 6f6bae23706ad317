package cdp

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzAnswerID compares the id found in the first bytes of a message with that of the parsed message.
func FuzzAnswerID(f *testing.F) {
	for _, seed := range []string{
		`{"id":7,"result":{}}`, `{"id":7}`, `{"id": 7, "result": {}}`, `{"result":{},"id":7}`,
		`{"id":7,"error":{"code":-32000,"message":"no"}}`,
		`{"method":"Page.loadEventFired","params":{}}`, `{"method":"x","params":{"id":7}}`, `{"id":null,"error":{}}`,
		`{"id":1e2}`, `{"id":`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		id, ok := answerID(data)
		var whole struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		once := bytes.Count(bytes.ToLower(data), []byte(`"id"`)) == 1 && !bytes.ContainsRune(data, '\\')
		if !once || json.Unmarshal(data, &whole) != nil || whole.Method != "" {
			return // no answer, or one of several ids
		}
		if whole.ID != 0 && (!ok || id != whole.ID) {
			t.Errorf("%q answers %d, got %d %t", data, whole.ID, id, ok)
		}
	})
}
