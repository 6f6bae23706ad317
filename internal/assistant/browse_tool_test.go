package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clank/internal/assistant"
	"clank/llm"
	"clank/sessions"
)

func TestAModelThatConversesByItselfCanBrowse(t *testing.T) {
	rec := sessions.TaskRecord{State: sessions.TaskDone, Answer: "The ferry goes at ten.", Images: []llm.Image{png}}
	ts := answering(rec)
	var shown []assistant.Answer
	tool := newBrain(nil, ts).BrowseTool(func(o sessions.Origin, a assistant.Answer) {
		if o.User != ada.User {
			t.Errorf("shown to %+v", o)
		}
		shown = append(shown, a)
	})
	text, images, err := tool.Call(t.Context(), ada, json.RawMessage(`{"query": "ferry times"}`))
	if err != nil || !strings.Contains(text, "The ferry goes at ten.") || !strings.Contains(text, "abc123") || len(images) != 1 {
		t.Errorf("%q, %d images, %v", text, len(images), err)
	}
	if len(shown) != 1 || len(shown[0].Images) != 1 || ts.ran[0].Prompt != "ferry times" || ts.ran[0].Origin.User != ada.User {
		t.Errorf("shown %+v, ran %+v", shown, ts.ran)
	}
	if _, _, err := tool.Call(t.Context(), ada, json.RawMessage(`{}`)); err == nil {
		t.Error("a call without a query is no error")
	}
	ts.run = func(context.Context, sessions.Task, func(sessions.Event)) (sessions.TaskRecord, error) {
		return sessions.TaskRecord{}, errors.New("no browser")
	}
	if _, _, err := tool.Call(t.Context(), ada, json.RawMessage(`{"query": "x"}`)); err == nil || !strings.Contains(err.Error(), "no browser") {
		t.Errorf("err = %v", err)
	}
}
