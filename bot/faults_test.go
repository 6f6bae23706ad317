package bot_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

func TestAnAnswerSurvivesDiscordsBadMinutes(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	k.step("look", nil)
	s.button(it)
	for range 9 {
		s.FailNext(discordtest.RouteEditResponse, http.StatusServiceUnavailable)
	}
	k.done("the answer")
	if got := s.answer(it, "the answer"); len(got.Original.Buttons()) != 0 {
		t.Error("the stop button is still there")
	}
	it, k = s.lamps()
	s.ForgetInteraction(it.ID)
	for range 9 {
		s.FailNext(discordtest.RouteCreateMessage, http.StatusBadGateway)
	}
	k.done("in a message of its own")
	s.message(s.room, "in a message of its own")
}

func TestWorkGoesOnDirectlyWhenItsChannelIsLost(t *testing.T) {
	for name, lose := range map[string]func(s *stage){
		"the channel is deleted":    func(s *stage) { s.DeleteChannel(s.room) },
		"the bot sees it no longer": func(s *stage) { s.Overwrite(s.room, s.account.User, discordtest.Role{}, 0, discordtest.ViewChannel) },
		"the bot is thrown out":     func(s *stage) { s.RemoveMember(s.guild, s.account.User) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openStage(t)
			it, k := s.lamps()
			s.ForgetInteraction(it.ID)
			k.step("look", nil)
			s.message(s.room, "look")
			lose(s)
			if !strings.Contains(name, "sees") { // of which Discord tells nothing
				s.message(s.OpenDM(s.ada, s.account), "look")
			}
			k.done("the answer")
			s.message(s.OpenDM(s.ada, s.account), "the answer")
		})
	}
}

func TestWorkThatNobodyCanBeToldOfStops(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	s.ForgetInteraction(it.ID)
	k.step("look", nil)
	s.message(s.room, "look")
	s.CloseDMs(s.ada)
	s.DeleteChannel(s.room)
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		t.Error("it goes on")
	}
}

func TestWhatIsDeliveredTwiceIsDoneOnce(t *testing.T) {
	s := openStage(t)
	var replies atomic.Int32
	s.replier.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
		replies.Add(1)
		return assistant.Answer{Text: "hello ada"}, nil
	}
	command := fmt.Sprintf(`{"id":"900","application_id":%q,"type":2,"token":"t","guild_id":%q,"channel_id":%q,"member":{"user":{"id":%q}},
		"data":{"id":"1","name":"clank","type":1,"options":[{"type":1,"name":"browse","options":[{"type":3,"name":"task","value":"twice"}]}]}}`,
		s.account.ID, s.guild.ID, s.room.ID, s.ada.ID)
	for range 2 {
		check.Must(t, s.Dispatch(s.account, "INTERACTION_CREATE", command))
	}
	s.next().done("done")
	message := fmt.Sprintf(`{"id":"901","type":0,"guild_id":%q,"channel_id":%q,"author":{"id":%q,"username":"ada"},"content":"<@%s> hello"}`,
		s.guild.ID, s.room.ID, s.ada.ID, s.account.ID)
	for range 2 {
		check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", message))
	}
	s.message(s.room, "hello ada")
	s.browse(s.ada, discordtest.Args{"task": "after"}) // what comes after them shows that both were read
	if k := s.next(); k.Prompt != "after" {
		t.Errorf("it began again: %q", k.Prompt)
	}
	if n := replies.Load(); n != 1 {
		t.Errorf("it answered %d times", n)
	}
}

// A library that does not know a part of a message must not make it deaf.
func TestAMessageWithUnknownPartsIsHeard(t *testing.T) {
	s := openStage(t)
	_, k := s.lamps()
	check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", fmt.Sprintf(`{"id":"901","type":19,"guild_id":%q,"channel_id":%q,
		"author":{"id":%q,"username":"ada"},"content":"stop","components":[{"type":99}],"referenced_message":{"id":"1","components":[{"type":98}]}}`,
		s.guild.ID, s.room.ID, s.ada.ID)))
	s.stopped(k, "ada")
}

func TestAStopThatTheGatewayDidNotTellIsFound(t *testing.T) {
	s := openStage(t)
	s.say(s.room, s.ada, "stop") // which is over
	_, k := s.lamps()
	hold := s.HoldNext(discordtest.RouteGatewayBot)
	check.Must(t, s.DropSockets(s.account))
	select {
	case <-hold.Arrived():
	case <-s.ctx().Done():
		t.Fatal("the bot does not come back")
	}
	if err := s.InvalidateSession(s.account, false); !errors.Is(err, discordtest.ErrNotConnected) {
		t.Fatal(err)
	}
	s.say(s.room, s.bob, "stop") // who may not
	s.say(s.room, s.mod, "stop")
	hold.Release()
	s.stopped(k, "mod")
}

// openMessages is a store in memory.
type openMessages struct {
	mu   sync.Mutex
	kept map[string][]byte
	news chan struct{} // one for each change
}

func newOpenMessages(kept map[string][]byte) *openMessages {
	return &openMessages{kept: kept, news: make(chan struct{}, 100)}
}

// wait waits until what is kept is as is says.
func (o *openMessages) wait(s *stage, what string, is func(map[string][]byte) bool) map[string][]byte {
	s.t.Helper()
	for {
		if all, _ := o.OpenMessages(s.t.Context()); is(all) {
			return all
		}
		select {
		case <-o.news:
		case <-s.ctx().Done():
			s.t.Fatalf("not kept: %s", what)
		}
	}
}

func (o *openMessages) SaveOpenMessage(_ context.Context, work string, data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[work] = data
	o.news <- struct{}{}
	return nil
}

func (o *openMessages) DeleteOpenMessage(_ context.Context, work string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.kept, work)
	o.news <- struct{}{}
	return nil
}

func (o *openMessages) OpenMessages(context.Context) (map[string][]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.kept), nil
}

func TestAfterACrashOldMessagesAreCorrected(t *testing.T) {
	s := newStage(t)
	store := newOpenMessages(map[string][]byte{})
	s.bot.Messages = store
	s.open()
	command, k := s.lamps()
	k.step("look", nil)
	store.wait(s, "the answer to a command", func(kept map[string][]byte) bool { return len(kept) == 1 })
	forgotten, k2 := s.lamps() // goes on in a message of its own
	s.ForgetInteraction(forgotten.ID)
	k2.step("glance", nil)
	message := s.message(s.room, "glance")
	before := store.wait(s, "the message", func(kept map[string][]byte) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(kept)), func(data []byte) bool { return strings.Contains(string(data), message.ID) })
	})
	k.done("one")
	k2.done("two")
	s.answer(command, "one")
	s.message(s.room, "two")
	store.wait(s, "nothing", func(kept map[string][]byte) bool { return len(kept) == 0 })

	// The next run finds what the crash has left.
	next := s.newBot()
	left := newOpenMessages(before)
	next.Messages = left
	check.Must(t, next.Open(s.ctx()))
	defer func() { check.Must(t, next.Close(context.Background())) }()
	if got := s.answer(command, "clank was restarted"); len(got.Original.Buttons()) != 0 {
		t.Error("the stop button is still there")
	}
	if m, err := s.WaitEdit(s.ctx(), message.ID, func(m discordtest.Message) bool { return strings.Contains(m.Content, "clank was restarted") }); err != nil || len(m.Buttons()) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	left.wait(s, "nothing any more", func(kept map[string][]byte) bool { return len(kept) == 0 })
}
