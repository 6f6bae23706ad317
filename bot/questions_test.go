package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/bot"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/bwmarrin/discordgo"
)

// asked is a question that somebody waits for.
type asked struct {
	question approval.Question
	answer   chan approval.Answer
	stop     context.CancelFunc
}

// ask asks about a class in ada's name, as her task in the room does, and waits for
// the message.
func (s *stage) ask(class approval.Class, change func(*approval.Question)) (asked, discordtest.Message) {
	s.t.Helper()
	q := approval.Question{
		Class: class, Source: "discord", Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID, Session: "s1",
		Text: fmt.Sprintf("Do %s at shop.example", class), Detail: "Buy **now** @everyone\n[ok](https://evil.example)",
		Origin: "https://shop.example",
	}
	if change != nil {
		change(&q)
	}
	ctx, stop := context.WithCancel(s.ctx())
	a := asked{question: q, answer: make(chan approval.Answer, 1), stop: stop}
	go func() {
		answer, err := s.desk.Ask(ctx, q)
		if denied := new(approval.DeniedError); err != nil && !errors.As(err, &denied) {
			answer.Reason = err.Error()
		}
		a.answer <- answer
	}()
	in := s.room
	if q.Private {
		in = s.OpenDM(s.ada, s.account)
	}
	got, err := s.WaitMessage(s.ctx(), in, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "Do "+string(class)) && len(m.Buttons()) > 0
	})
	check.Must(s.t, err)
	return a, got
}

// say presses the button with that label.
func (s *stage) sayTo(m discordtest.Message, who discordtest.User, label string) discordtest.Interaction {
	s.t.Helper()
	for _, b := range m.Buttons() {
		if b.Label == label {
			it, err := s.PressButton(m, who, b.CustomID)
			check.Must(s.t, err)
			return it
		}
	}
	s.t.Fatalf("there is no button %q", label)
	return discordtest.Interaction{}
}

func (s *stage) told(it discordtest.Interaction) discordtest.Interaction {
	s.t.Helper()
	got, err := s.WaitAnswer(s.ctx(), it)
	check.Must(s.t, err)
	return got
}

func (s *stage) outcome(a asked) approval.Answer {
	s.t.Helper()
	select {
	case answer := <-a.answer:
		return answer
	case <-s.ctx().Done():
		s.t.Fatal("no answer came")
		return approval.Answer{}
	}
}

// edited waits until the message says how it ended.
func (s *stage) edited(m discordtest.Message, text string) {
	s.t.Helper()
	_, err := s.WaitEdit(s.ctx(), m.ID, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, text) && len(m.Buttons()) == 0
	})
	if err != nil {
		now, _ := s.Message(m.ID)
		s.t.Fatalf("it says %q, want %q: %v", now.Content, text, err)
	}
}

func TestAQuestionIsAskedInTheChannelAndAnsweredByAButton(t *testing.T) {
	s := openStage(t)
	a, m := s.ask(approval.ClassBuy, nil)
	q := s.desk.Pending()[0]
	want := "**Do buy at shop.example?**\nThe page calls it: “Buy \\*\\*now\\*\\* \\@everyone " +
		"\\[ok\\]\\(https\\://evil.example\\)”\n" +
		fmt.Sprintf("-# For <@%s> to answer. Without an answer it is not done; the time is over <t:%d:R>.", s.ada.ID,
			q.Until.Unix())
	if m.Content != want || len(m.Mentions) != 0 {
		t.Errorf("it says %q\nwant %q", m.Content, want)
	}
	var labels []string
	for _, b := range m.Buttons() {
		labels = append(labels, b.Label)
	}
	check.Equal(t, "buttons", strings.Join(labels, ", "), "Allow, No")
	hold := s.HoldNext(discordtest.RouteEditMessage)
	s.sayTo(m, s.ada, "Allow")
	check.Equal(t, "answer", s.outcome(a), approval.Answer{Allowed: true, By: "@ada", ByID: s.ada.ID})
	<-hold.Arrived()
	late := s.told(s.sayTo(m, s.ada, "No"))
	if late.Text() != "That question is over." || !late.Ephemeral {
		t.Errorf("a late press: %q, ephemeral %v", late.Text(), late.Ephemeral)
	}
	hold.Release()
	s.edited(m, "-# Allowed by \\@ada.")
}

// linksTo are links that say whom they are for.
type linksTo struct{ bot.Links }

func (linksTo) Link(_ context.Context, o sessions.Origin, in bot.LinkRequest) (string, error) {
	if o.UserName != "ada" {
		return "", errors.New("session belongs to ada")
	}
	return fmt.Sprintf("for %s: %s %v", o.UserName, in.Session, in.Control), nil
}

func TestAskingForAPersonsHands(t *testing.T) {
	for _, tc := range []struct {
		links         bot.Links
		buttons, says string
	}{
		{linksTo{}, "Take over, No", "to answer."},
		{nil, "I will, No", "For somebody at the dashboard to do."},
	} {
		t.Run(tc.buttons, func(t *testing.T) {
			s := newStage(t)
			s.bot.Links = tc.links
			s.open()
			a, m := s.ask(approval.ClassTakeOver, nil)
			var labels []string
			for _, b := range m.Buttons() {
				labels = append(labels, b.Label)
			}
			check.Contains(t, m.Content, tc.says, "The model's note")
			check.Equal(t, "buttons", strings.Join(labels, ", "), tc.buttons)
			if tc.links != nil {
				if got := s.told(s.sayTo(m, s.mod, "Take over")); got.Text() != "Session belongs to ada." || !got.Ephemeral {
					t.Errorf("who may not work the page is told %q", got.Text())
				}
				if got := s.told(s.sayTo(m, s.ada, "Take over")); got.Text() != "for ada: s1 true" || !got.Ephemeral {
					t.Errorf("who takes over is told %q", got.Text())
				}
			} else {
				s.desk.AnswerFor("s1", approval.ClassTakeOver, approval.Answer{Allowed: true, By: "@ada"}) // who has taken over
			}
			if got := s.outcome(a); !got.Allowed || got.By != "@ada" {
				t.Errorf("answer %+v", got)
			}
			s.edited(m, "-# Allowed by \\@ada.")
		})
	}
}

func TestARunningTaskAsksItsPersonForWords(t *testing.T) {
	s := openStage(t)
	ask := func(change func(*approval.Question)) (asked, discordtest.Message) {
		return s.ask(approval.ClassAnswer, func(q *approval.Question) {
			q.Text, q.Detail, q.Choices = "Answer what the model asks", "Do answer: which **lamp**?", []string{"small", "large"}
			if change != nil {
				change(q)
			}
		})
	}
	a, m := ask(nil)
	check.Contains(t, m.Content, "**The model asks:** Do answer\\: which \\*\\*lamp\\*\\*?", "without passwords")
	check.Equal(t, "buttons", strings.Join(labels(m.Buttons()), ", "), "Answer in your own words, No answer")
	menu := m.Components[0].Components[0]
	for _, who := range []discordtest.User{s.bob, s.mod} { // nobody speaks for somebody else
		it, err := s.Choose(m, who, menu.CustomID, "small")
		check.Must(t, err)
		if got := s.told(it); got.Text() != "Only "+s.ada.Mention()+" can answer that." || !got.Ephemeral {
			t.Errorf("%s is told %q", who.Username, got.Text())
		}
	}
	form := s.told(s.sayTo(m, s.ada, "Answer in your own words"))
	check.Must(t, check.Err(s.Choose(m, s.ada, menu.CustomID, "small")))
	check.Equal(t, "answer", s.outcome(a), approval.Answer{Allowed: true, By: "@ada", ByID: s.ada.ID, Text: "small"})
	s.edited(m, "\n> small\n-# Answered by \\@ada.")
	it, err := s.SubmitModal(form, map[string]string{"task": "large"})
	check.Must(t, err)
	check.Equal(t, "a second answer is told", s.told(it).Text(), "That question is over.")

	a, m = ask(func(q *approval.Question) { q.Choices = nil })
	form = s.told(s.sayTo(m, s.ada, "Answer in your own words"))
	check.Must(t, check.Err(s.SubmitModal(form, map[string]string{"task": "the one at the door"})))
	if got := s.outcome(a); got.Text != "the one at the door" {
		t.Errorf("answer %+v", got)
	}
	s.edited(m, "> the one at the door")
	a, m = ask(nil)
	s.sayTo(m, s.mod, "No answer") // who may stop the task may say no
	if got := s.outcome(a); got.Allowed || got.By != "@mod" {
		t.Errorf("answer %+v", got)
	}
	s.edited(m, "Refused by \\@mod.")
	a, m = ask(nil)
	a.stop() // the task is stopped meanwhile
	s.outcome(a)
	s.edited(m, "the task has ended")
}

func TestWhoMayAnswer(t *testing.T) {
	s := newStage(t)
	anyone := false
	s.host.anyone = func() bool { return anyone }
	s.open()
	a, m := s.ask(approval.ClassSend, nil)
	refused := "Only " + s.ada.Mention() + ", or somebody who may manage messages here, can answer that."
	for _, label := range []string{"Allow", "Allow for this session", "No"} {
		if got := s.told(s.sayTo(m, s.bob, label)); got.Text() != refused || !got.Ephemeral {
			t.Errorf("bob says %s: %q", label, got.Text())
		}
	}
	s.sayTo(m, s.mod, "Allow for this session")
	check.Equal(t, "answer", s.outcome(a), approval.Answer{Allowed: true, ForSession: true, By: "@mod", ByID: s.mod.ID})
	s.edited(m, "Allowed for this session by \\@mod.")

	anyone = true // to stop: nobody may spend other people's money for that
	a, m = s.ask(approval.ClassBuy, nil)
	check.Equal(t, "bob allows", s.told(s.sayTo(m, s.bob, "Allow")).Text(), refused)
	s.sayTo(m, s.bob, "No")
	check.Equal(t, "answer", s.outcome(a), approval.Answer{By: "@bob", ByID: s.bob.ID})
	s.edited(m, "Refused by \\@bob.")
}

func TestWhoWasShutOutAfterAskingAllowsNothing(t *testing.T) {
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprintf("private %v", private), func(t *testing.T) {
			s := newStage(t)
			s.host.disabled = func(o sessions.Origin) string {
				if o.Guild == s.guild.ID && o.Channel == s.room.ID && o.User == s.ada.ID {
					return "you are not among the people that I work for here"
				}
				return ""
			}
			s.open()
			a, m := s.ask(approval.ClassSend, func(q *approval.Question) { q.Private = private })
			for _, label := range []string{"Allow", "Allow for this session"} {
				check.Equal(t, "ada says "+label, s.told(s.sayTo(m, s.ada, label)).Text(),
					"You are not among the people that I work for here.")
			}
			s.sayTo(m, s.ada, "No")
			check.Equal(t, "answer", s.outcome(a), approval.Answer{By: "@ada", ByID: s.ada.ID})
		})
	}
}

func TestAPrivateQuestionIsForOnePersonAlone(t *testing.T) {
	s := newStage(t)
	s.host.anyone = func() bool { return true }
	s.open()
	a, m := s.ask(approval.ClassDelete, func(q *approval.Question) { q.Private = true })
	s.unseen(s.room, "Do delete")
	// Moderators learn nothing of it, but somebody may get hold of its number.
	for n, say := range []string{"yes", "no"} {
		data := fmt.Sprintf(`{"id":"7%d","application_id":"%s","type":3,"token":"x","version":1,"guild_id":"%s","channel_id":"%s","data":{"custom_id":"clank:ask:%s:%s","component_type":2},`+
			`"member":{"user":{"id":"%s","username":"mod"},"permissions":"%d"}}`,
			n, s.account.ID, s.guild.ID, s.room.ID, say, s.desk.Pending()[0].ID, s.mod.ID, discordgo.PermissionAdministrator)
		check.Must(t, s.Dispatch(s.account, "INTERACTION_CREATE", data))
	}
	s.sayTo(m, s.ada, "Allow")
	if got := s.outcome(a); !got.Allowed || got.By != "@ada" {
		t.Errorf("answer %+v", got)
	}
	s.edited(m, "Allowed by")
	s.unseen(s.room, "Allowed by")
}

func TestAPrivateQuestionThatCannotBeShownIsANoAtOnce(t *testing.T) {
	s := newStage(t)
	s.desk.Wait = func() time.Duration { return time.Hour }
	s.open()
	s.CloseDMs(s.ada)
	_, err := s.desk.Ask(s.ctx(), approval.Question{
		Class: approval.ClassBuy, Source: "discord", Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID, Session: "s1",
		Text: "Do buy at shop.example", Private: true,
	})
	check.Fails(t, err, nil, "allow direct messages from this server")
	s.unseen(s.room, "Do buy")
}

func TestAQuestionThatIsOverElsewhereSaysSo(t *testing.T) {
	s := openStage(t)
	a, m := s.ask(approval.ClassBuy, nil)
	check.Must(t, s.desk.Answer(s.desk.Pending()[0].ID, approval.Answer{Allowed: true, By: "the operator"}))
	s.edited(m, "Allowed by the operator.")
	s.outcome(a)

	a, m = s.ask(approval.ClassDelete, nil)
	a.stop()
	s.edited(m, "Refused\\: the task has ended")
	s.outcome(a)
}

func TestSilenceIsShownAsANo(t *testing.T) {
	s := newStage(t)
	s.desk.Wait = func() time.Duration { return 300 * time.Millisecond }
	s.open()
	a, m := s.ask(approval.ClassBuy, nil)
	s.edited(m, "Refused\\: nobody answered within 1 second.")
	s.outcome(a)
}

func TestQuestionsOfOtherDoorsAndFalseButtonsAreNotForDiscord(t *testing.T) {
	s := openStage(t)
	check.Fails(t, check.Err(s.desk.Ask(s.ctx(),
		approval.Question{Class: approval.ClassBuy, Source: "terminal", Channel: s.room.ID})), nil, "nobody is there")
	a, m := s.ask(approval.ClassBuy, nil)
	data := fmt.Sprintf(`{"id":"77","application_id":"%s","type":3,"token":"x","version":1,"channel_id":"%s","data":{"custom_id":"clank:ask:yes:%s","component_type":2},"user":{"id":"%s","username":"bob"}}`,
		s.account.ID, s.room.ID, s.desk.Pending()[0].ID, s.bob.ID)
	check.Must(t, s.Dispatch(s.account, "INTERACTION_CREATE", data))
	s.sayTo(m, s.ada, "No") // comes after it
	if got := s.outcome(a); got.By != "@ada" {
		t.Errorf("a press from elsewhere counted: %+v", got)
	}
}

func TestTheEndOfTheBotIsTheEndOfItsQuestions(t *testing.T) {
	s := newStage(t)
	check.Must(t, s.bot.Open(s.ctx()))
	a, m := s.ask(approval.ClassBuy, nil)
	s.close()
	if now, _ := s.Message(m.ID); !strings.Contains(now.Content, "clank has ended") {
		t.Errorf("it says %q", now.Content)
	}
	a.stop()
	s.outcome(a)
	check.Fails(t, check.Err(s.desk.Ask(s.ctx(), a.question)),
		nil, "nobody is there to be asked", "interaction.consent.buy")
}
