package api

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"clank/internal/test/check"
)

func TestServerSentEventsAreReadAsTheStandardSays(t *testing.T) {
	stream := "retry: 5\n\n:comment\n\nid: a-1\nevent: step\ndata: one\ndata:two\n\nevent: nothing\n\ndata\n\nid\ndata: " +
		"last\r\n\r\nevent: cut\ndata: off"
	var got []string
	err := readEvents(strings.NewReader(stream), func(id, event string, data []byte) error {
		got = append(got, fmt.Sprintf("%s|%s|%s", id, event, data))
		return nil
	})
	check.Fails(t, err, io.ErrUnexpectedEOF)
	check.Diff(t, "events", got, []string{"a-1|step|one\ntwo", "a-1||", "||last"})
	stop := errors.New("stop")
	check.Fails(t, readEvents(strings.NewReader("data: x\n\n"), func(string, string, []byte) error { return stop }), stop)
}

func FuzzWhatAStreamSendsReadsBackTheSame(f *testing.F) {
	f.Add("a-1", "step", `{"x":1}`)
	f.Add("", "", ":")
	f.Add("id: x", "data", "data: ")
	f.Fuzz(func(t *testing.T, id, event, data string) {
		if strings.ContainsAny(id+event+data, "\r\n") || data == "" || strings.HasPrefix(id, " ") ||
			strings.HasPrefix(event, " ") {
			t.Skip("no event that a server sends")
		}
		n := 0
		text := fmt.Sprintf(":\n\nid: %s\nevent: %s\ndata: %s\n\n", id, event, data)
		_ = readEvents(strings.NewReader(text), func(gotID, gotEvent string, got []byte) error {
			n++
			if gotID != id || gotEvent != event || string(got) != data {
				t.Errorf("%q %q %q came back as %q %q %q", id, event, data, gotID, gotEvent, got)
			}
			return nil
		})
		check.Equal(t, "one event came back as", n, 1)
	})
}
