package bot_test

import (
	"context"
	"strings"
	"testing"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

func TestAQuestionOfTheModelIsAnsweredWithAMenuOrAForm(t *testing.T) {
	s := newStage(t)
	turns := make(chan assistant.Turn, 1)
	s.replier.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		turns <- turn
		last := turn.Lines[len(turn.Lines)-1].Text
		switch {
		case strings.Contains(last, "lamp"):
			return assistant.Answer{Text: "Which one?", Asks: true, Choices: []string{strings.Repeat("large ", 16), "small"}},
				nil
		case last == "small":
			return assistant.Answer{Text: "For which room?", Asks: true}, nil
		}
		return assistant.Answer{Text: "That is it."}, nil
	}
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" a lamp")
	if turn := <-turns; !turn.CanAsk {
		t.Error("the model is not told that it can ask")
	}
	question := s.message(s.room, "Which one?")
	menu := question.Components[0].Components[0]
	if len(menu.Options) != 2 || !strings.Contains(strings.Join(labels(question.Buttons()), ","),
		"Answer in your own words") {
		t.Fatalf("got %+v", question.Components)
	}
	s.close() // and started again: nothing of it is kept in memory
	s.bot = s.newBot()
	s.open()
	refused, err := s.Choose(question, s.bob, menu.CustomID, "small")
	check.Must(t, err)
	s.answer(refused, "Only <@"+s.ada.ID+"> can answer that.")
	s.answer(s.pressLabel(question, s.bob, "Answer in your own words"), "Only <@"+s.ada.ID+"> can answer that.")

	it, err := s.Choose(question, s.ada, menu.CustomID, "small")
	check.Must(t, err)
	next := s.answer(it, "> small\nFor which room?")
	turn := <-turns
	said := turn.Lines[len(turn.Lines)-2:]
	if turn.Typed || said[0].Text != "Which one?" || !said[0].FromAssistant || said[1].Text != "small" ||
		said[1].SpeakerID != s.ada.ID {
		t.Errorf("got %+v", turn)
	}
	if next.Ephemeral || len(next.Original.Components) != 1 {
		t.Errorf("the open question: %+v", next.Original)
	}
	form := s.answered(s.pressLabel(*next.Original, s.ada, "Answer in your own words"))
	it, err = s.SubmitModal(form, map[string]string{"task": "the kitchen"})
	check.Must(t, err)
	s.answer(it, "> the kitchen\nThat is it.")
	if turn := <-turns; !turn.Typed || turn.Lines[len(turn.Lines)-1].Text != "the kitchen" {
		t.Errorf("got %+v", turn)
	}
}

func TestAnswersToQuestionsOfTheModelCanBeStopped(t *testing.T) {
	s := newStage(t)
	s.replier.reply = func(ctx context.Context, turn assistant.Turn,
		_ func(assistant.Progress),
	) (assistant.Answer, error) {
		if strings.Contains(turn.Lines[len(turn.Lines)-1].Text, "lamp") {
			return assistant.Answer{Text: "Which one?", Asks: true, Choices: []string{"small"}}, nil
		}
		<-ctx.Done()
		return assistant.Answer{}, context.Cause(ctx)
	}
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" a lamp")
	question := s.message(s.room, "Which one?")
	it, err := s.Choose(question, s.ada, question.Components[0].Components[0].CustomID, "small")
	check.Must(t, err)
	check.Must(t, check.Err(s.WaitRequest(s.ctx(), discordtest.RouteRespond, 0)))
	s.say(s.room, s.ada, "stop")
	s.answer(it, "Stopped by")
}
