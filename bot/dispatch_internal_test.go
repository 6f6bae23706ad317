package bot

import (
	"encoding/json"
	"testing"
)

func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","channel_id":"2","guild_id":"3","type":0,"content":"hi","author":{"id":"4","username":"ada"}}`,
		`{"id":"1","channel_id":"2","content":"stop","edited_timestamp":"2026-01-01T00:00:00Z","components":[{"type":99}]}`,
		`{"id":"1","components":7,"author":null,"member":{"roles":["5"]},"mentions":[null]}`, `null`, `[]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readMessage(data)
		if !json.Valid(data) && err == nil {
			t.Errorf("%q is read as %+v", data, m)
		}
		var with struct {
			ID string `json:"id"`
		}
		if m != nil && err != nil && (json.Unmarshal(data, &with) != nil || with.ID != m.ID) {
			t.Errorf("%q is read as the message %q", data, m.ID)
		}
	})
}

func FuzzInteractions(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","type":2,"token":"t","guild_id":"3","channel_id":"2","member":{"user":{"id":"4"},"permissions":"8"},
			"data":{"id":"5","name":"clank","type":1,"options":[{"name":"browse","type":1,"options":[{"name":"task","type":3,"value":"x"}]}]}}`,
		`{"id":"1","type":3,"user":{"id":"4"},"data":{"custom_id":"stop:1","component_type":2}}`,
		`{"id":"1","type":5,"user":{"id":"4"},"data":{"custom_id":"m","components":[{"type":1,"components":[{"type":4,"custom_id":"task","value":"x"}]}]}}`,
		`{"id":"1","type":2,"user":{"id":"4"},"data":{"type":3,"target_id":"9","resolved":{"messages":{"9":{"id":"9","components":[{"type":99}]}}}}}`,
		`{"type":2,"data":{"resolved":{"messages":{"9":null}},"options":[null]}}`, `{"type":2,"data":null}`, `null`,
		`{"type":4}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := readInteraction(data)
		if err != nil || i == nil {
			return
		}
		if who, ok := personOf(i); ok && who.id == "" {
			t.Errorf("%q is of nobody: %+v", data, who)
		}
		isStopInteraction(i)
		isBrowse(i)
	})
}
