package bot

import (
	"strings"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/approval"
)

func TestProgressOfManyBrowsesFitsAMessage(t *testing.T) {
	p := &progress{dirty: make(chan struct{}, 1)}
	long := strings.Repeat("*", 4000)
	for call := 1; call <= 3; call++ {
		p.handleEvent(call, long, event(long))
	}
	if n := discord.MessageLength(p.view().content); n > discord.MaxMessageLength {
		t.Errorf("message of %d characters", n)
	}
}

func TestQuestionsAndNoticesFitAMessage(t *testing.T) {
	long := strings.Repeat("*", 4000)
	until := time.Now()
	var diff []string
	for range 14 {
		diff = append(diff, "+ "+long)
	}
	w := watches.Watch{
		ID: "w1", URL: "https://shop.test/" + strings.Repeat("a", 200), What: long,
		State: watches.StateActive,
	}
	notice := noticeText("", w, watches.Notice{Kind: watches.NoticeMet, Text: "It is so.", Diff: diff})
	texts := []string{notice}
	for _, class := range []approval.Class{approval.ClassAnswer, approval.ClassBuy, approval.ClassTakeOver} {
		q := approval.Question{Class: class, Text: long, Detail: long, User: "100000000000000000", Until: until}
		texts = append(texts, questionText("", q, true), resolvedText("", q, approval.Answer{Allowed: true, By: long}))
		if class == approval.ClassAnswer {
			texts = append(texts, resolvedText("", q, approval.Answer{Allowed: true, By: long, Text: long}))
		}
	}
	for _, text := range texts {
		if n := discord.MessageLength(text); n > discord.MaxMessageLength {
			t.Errorf("a message of %d characters: %.80s", n, text)
		}
	}
	if !strings.Contains(notice, w.URL) || !strings.HasSuffix(notice, "ends this watch.") {
		t.Errorf("the notice does not say where: %s", notice)
	}
}

func TestFooterGetsItsOwnMessageWhenThereIsNoRoom(t *testing.T) {
	got := composeMessages("", finalMessage{text: strings.Repeat("x", discord.MaxMessageLength), footer: "-# footer"})
	if len(got) != 2 || got[1].content != "-# footer" {
		t.Errorf("views = %d", len(got))
	}
}

func event(text string) sessions.Event {
	return sessions.Event{
		Record: sessions.TaskRecord{State: sessions.TaskRunning},
		Step:   &sessions.Step{N: 1, Kind: sessions.StepAct, Label: text, Title: text, URL: text},
	}
}
