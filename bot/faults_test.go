package bot_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

var realFaults = flag.Bool("faults.real", false, "let Discord's bad minutes last as long as they do")

// fault is something that Discord does while a task works: before it answers, and, once more, before somebody stops it.
type fault struct {
	do       func(s *stage)
	message  bool // the work is shown in a message of its own, as Discord has forgotten the command
	direct   bool // what is to be read comes in a direct message, and the button there stops
	fast     bool // Discord asks for many heartbeats
	patience time.Duration
}

// messageFaults are those of the API.
func messageFaults() map[string]fault {
	refuse := func(route discordtest.Route, with *discordtest.APIError) func(*stage) {
		return func(s *stage) { s.RefuseNext(route, with) }
	}
	limit := func(route discordtest.Route, scope string, times int) func(*stage) {
		return func(s *stage) {
			for range times {
				s.RateLimitNext(route, scope, 20*time.Millisecond)
			}
		}
	}
	badForm := discordtest.Refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
	const edit, response = discordtest.RouteEditMessage, discordtest.RouteEditResponse
	all := map[string]fault{
		"10003 of a channel that is deleted": {message: true, direct: true, do: func(s *stage) { s.DeleteChannel(s.room) }},
		"50001 of a channel that is hidden": {message: true, direct: true, do: func(s *stage) {
			s.Overwrite(s.room, s.account.User, discordtest.Role{}, 0, discordtest.ViewChannel)
		}},
		"10004 of a server that threw the bot out": {message: true, direct: true, do: func(s *stage) {
			s.Install(s.account, s.ada) // otherwise nobody there can be reached any more
			s.RemoveMember(s.guild, s.account.User)
		}},
		"10008 of a message":      {message: true, do: func(s *stage) { s.DeleteMessage(s.message(s.room, "look")) }},
		"10062 of a command":      {do: refuse(response, discordtest.ErrUnknownInteract)},
		"10015 of a command":      {do: refuse(response, discordtest.ErrUnknownWebhook)},
		"50027 of a command":      {do: refuse(response, discordtest.ErrInvalidWebhook)},
		"30046 of an old message": {message: true, do: refuse(edit, discordtest.ErrTooManyEdits)},
		"40005 of a message":      {message: true, do: refuse(edit, discordtest.ErrTooLarge)},
		"50013 of a message":      {message: true, do: refuse(edit, discordtest.ErrMissingPerms)},
		"50013 of an answer":      {do: refuse(response, discordtest.ErrMissingPerms)},
		"50035 of a message":      {message: true, do: refuse(edit, badForm)},
		"50035 of an answer":      {do: refuse(response, badForm)},
		"a code of tomorrow":      {message: true, do: refuse(edit, discordtest.Refuse(http.StatusForbidden, 59999, "No."))},
		"an answer that is lost":  {do: func(s *stage) { s.LoseNextAnswer(response) }},
		"a message that is lost": {do: func(s *stage) {
			s.RefuseNext(response, discordtest.ErrUnknownWebhook)
			s.LoseNextAnswer(discordtest.RouteCreateMessage)
		}},
		"an edit that is lost": {message: true, do: func(s *stage) { s.LoseNextAnswer(edit) }},
	}
	for _, scope := range []string{discordtest.ScopeUser, discordtest.ScopeShared, discordtest.ScopeGlobal} {
		all["429 of scope "+scope] = fault{message: true, do: limit(edit, scope, 1)}
		all["429 again and again of scope "+scope] = fault{message: true, do: limit(edit, scope, 7)}
	}
	outage := func(status int, length time.Duration) {
		if !*realFaults {
			length /= 100 // as the bot of a test waits a hundredth as long between two tries
		}
		f := fault{do: func(s *stage) { s.Outage(status, length) }, patience: length + time.Minute}
		all[fmt.Sprintf("%d for %v", status, length)] = f
		f.message = true
		all[fmt.Sprintf("%d for %v, of a message", status, length)] = f
	}
	outage(http.StatusServiceUnavailable, time.Minute)
	outage(http.StatusInternalServerError, 10*time.Second)
	outage(http.StatusBadGateway, 10*time.Second)
	if *realFaults {
		outage(http.StatusServiceUnavailable, 3*time.Minute)
		outage(http.StatusInternalServerError, 3*time.Minute)
	}
	return all
}

// gatewayFaults are those of the socket.
func gatewayFaults() map[string]fault {
	closed := func(code int, lost bool) func(*stage) {
		return func(s *stage) {
			check.Must(s.t, s.CloseGateway(s.account, code, "as asked"))
			if lost {
				s.forgetSession()
			}
		}
	}
	all := map[string]fault{
		"op 7": {do: func(s *stage) { check.Must(s.t, s.Reconnect(s.account)) }},
		"op 9": {do: func(s *stage) { check.Must(s.t, s.InvalidateSession(s.account, false)) }},
		"a dropped socket and a lost session": {do: func(s *stage) {
			check.Must(s.t, s.DropSockets(s.account))
			s.forgetSession()
		}},
		"missed acks": {fast: true, do: func(s *stage) {
			before := len(s.Disconnects())
			s.WithholdHeartbeatACK(true)
			check.Must(s.t, s.Wait(s.ctx(), "the bot to hang up", func() bool { return len(s.Disconnects()) > before }))
			s.WithholdHeartbeatACK(false)
		}},
	}
	if !*realFaults { // the library takes a second for each
		return all
	}
	all["op 9, to resume"] = fault{do: func(s *stage) { check.Must(s.t, s.InvalidateSession(s.account, true)) }}
	all["a dropped socket"] = fault{do: func(s *stage) { check.Must(s.t, s.DropSockets(s.account)) }}
	all["4007"] = fault{do: closed(discordtest.CloseInvalidSeq, true)}
	all["4009"] = fault{do: closed(discordtest.CloseSessionTimedOut, true)}
	for _, code := range []int{4000, 4001, 4002, 4003, 4005, 4008} {
		all[strconv.Itoa(code)] = fault{do: closed(code, false)}
	}
	return all
}

// forgetSession makes Discord forget a session that is not connected.
func (s *stage) forgetSession() {
	if err := s.InvalidateSession(s.account, false); err != nil && !errors.Is(err, discordtest.ErrNotConnected) {
		s.t.Fatal(err)
	}
}

// tally counts what people could read.
type tally struct{ faults, told, lost, twice, after atomic.Int32 }

// fail counts a failure and fails the test.
func (f *tally) fail(s *stage, in *atomic.Int32, format string, args ...any) {
	s.t.Helper()
	in.Add(1)
	s.t.Errorf(format, args...)
}

// seen counts the messages in which ada reads text now.
func (s *stage) seen(text string) (n int) {
	for _, in := range []discordtest.Channel{s.room, s.OpenDM(s.ada, s.account)} {
		for _, m := range s.MessagesFor(in, s.ada) {
			if m.Author.ID != s.account.ID {
				continue
			}
			holds := strings.Contains(m.Content, text)
			for _, a := range m.Attachments {
				holds = holds || strings.Contains(string(a.Data), text)
			}
			if holds {
				n++
			}
		}
	}
	return n
}

// under returns a stage with a task that works and is shown, upon which the fault has come.
func (f fault) under(t *testing.T) (*stage, *task) {
	t.Helper()
	cfg := discordtest.Config{}
	if f.fast {
		cfg.HeartbeatInterval = 50 * time.Millisecond
	}
	s := newStageOn(t, cfg)
	if *realFaults {
		s.bot.RetryWait, s.bot.EditInterval = 0, 0
	}
	s.patience = f.patience
	s.open()
	it, k := s.lamps()
	if f.message {
		s.ForgetInteraction(it.ID)
	}
	k.step("look", nil)
	s.message(s.room, "look")
	f.do(s)
	return s, k
}

func (f fault) answer(t *testing.T, sum *tally, gateway bool) (told bool) {
	t.Helper()
	s, k := f.under(t)
	k.done("the answer")
	if s.Wait(s.ctx(), "the answer", func() bool { return s.seen("the answer") > 0 }) != nil {
		sum.fail(s, &sum.lost, "the answer is lost")
		return false
	}
	if gateway {
		check.Must(t, s.WaitConnected(s.ctx(), s.account))
		it, k := s.lamps()
		k.done("one more")
		s.answer(it, "one more")
	}
	s.close()
	if n := s.seen("the answer"); n != 1 || len(s.tasks.begun) > 0 {
		sum.fail(s, &sum.twice, "the answer is there %d times, and %d tasks began again", n, len(s.tasks.begun))
	}
	return true
}

func (f fault) stop(t *testing.T, sum *tally) (told bool) {
	t.Helper()
	s, k := f.under(t)
	if f.direct {
		k.step("glance", nil)
		m := s.message(s.OpenDM(s.ada, s.account), "glance")
		_, err := s.PressButton(m, s.ada, m.Buttons()[0].CustomID)
		check.Must(t, err)
	} else {
		s.say(s.room, s.ada, "stop")
	}
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		sum.fail(s, &sum.after, "the task goes on")
		return false
	}
	k.step("go on", nil)
	told = s.Wait(s.ctx(), "the end", func() bool { return s.seen("topped by") > 0 }) == nil
	s.close()
	if n := s.seen("go on"); n > 0 {
		sum.fail(s, &sum.after, "something was shown after the stop")
	}
	if !told {
		sum.fail(s, &sum.lost, "nobody is told that it was stopped")
	}
	return told
}

// TestDiscordFaults is make discord-faults: what Discord does on bad days, and what people read then.
func TestDiscordFaults(t *testing.T) {
	var sum tally
	t.Run("all", func(t *testing.T) {
		run := func(name string, f func(t *testing.T) (told bool)) {
			sum.faults.Add(1)
			t.Run(name, func(t *testing.T) {
				if f(t) && !t.Failed() {
					sum.told.Add(1)
				}
			})
		}
		for gateway, list := range map[bool]map[string]fault{false: messageFaults(), true: gatewayFaults()} {
			for name, f := range list {
				run(name, func(t *testing.T) bool { t.Helper(); return f.answer(t, &sum, gateway) })
				run(name+", then a stop", func(t *testing.T) bool { t.Helper(); return f.stop(t, &sum) })
			}
		}
		for name, f := range map[string]func(*testing.T){
			"a command in bad seconds": commandInBadSeconds, "40060 of a command": acknowledgedTwice,
			"50007 of a person": untellableWorkStops, "a delivery twice": deliveredTwice, "unknown parts": unknownParts,
			"a stop that was not told": missedStop, "a crash": crash, "50035 of the commands": commandsRefused,
			"4004": revoked, "4013": unknownIntents, "4014": forbiddenIntents,
		} {
			run(name, func(t *testing.T) bool {
				t.Helper()
				f(t)
				return true
			})
		}
	})
	t.Logf("discord: faults=%d told=%d lost_answers=%d done_twice=%d after_stop=%d",
		sum.faults.Load(), sum.told.Load(), sum.lost.Load(), sum.twice.Load(), sum.after.Load())
}

func commandInBadSeconds(t *testing.T) {
	t.Helper()
	s := openStage(t)
	s.Outage(http.StatusServiceUnavailable, 500*time.Millisecond)
	_, k := s.lamps()
	k.done("the answer")
	s.message(s.room, "the answer")
}

func acknowledgedTwice(t *testing.T) {
	t.Helper()
	s := openStage(t)
	s.LoseNextAnswer(discordtest.RouteRespond) // the next try is refused with it
	it, k := s.lamps()
	k.done("the answer")
	s.answer(it, "the answer")
}

func commandsRefused(t *testing.T) {
	t.Helper()
	s := newStage(t)
	s.bot.Runtimes = []string{"one", strings.Repeat("x", 101)}
	s.open()
	check.Fails(t, s.bot.CommandError(), nil, "Must be between 1 and 100 in length")
}

// With its token a bot loses the ears for a stop: work ends, and says so where Discord still lets it.
func revoked(t *testing.T) {
	t.Helper()
	s := openStage(t)
	it, k := s.lamps()
	k.step("look", nil)
	s.message(s.room, "look")
	s.RevokeToken(s.account)
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		t.Fatal("it goes on")
	}
	s.answer(it, "Discord does not let clank in any more")
	<-s.bot.Done()
	check.Fails(t, s.bot.Err(), nil, "does not accept the token")
}

func unknownIntents(t *testing.T) {
	t.Helper()
	s := newStage(t)
	s.bot.Intents = 1 << 30
	check.Fails(t, s.bot.Open(s.ctx()), nil, "update clank")
	s.close()
}

// Without the privileged intent Discord still tells what is said to the bot.
func forbiddenIntents(t *testing.T) {
	t.Helper()
	s := newStage(t)
	s.plainBrain()
	s.ForbidIntents(s.account, discordtest.MessageContent)
	s.open()
	if !s.bot.Limited() {
		t.Error("it does not know what is hidden from it")
	}
	it, k := s.lamps()
	k.done("by command")
	s.answer(it, "by command")
	for what, in := range map[string]discordtest.Channel{"by mention": s.room, "in private": s.OpenDM(s.ada, s.account)} {
		s.say(in, s.ada, s.account.Mention()+" "+what)
		k := s.next()
		check.Equal(t, "prompt", k.Prompt, what)
		k.done("done " + what)
		s.message(in, "done "+what)
	}
	it, k = s.lamps()
	k.ID = "t1"
	k.step("look", nil)
	shown := s.message(s.room, "look")
	s.replyTo(shown, s.ada, "and chairs")
	s.message(s.room, "No task here") // it was heard
	check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", fmt.Sprintf(`{"id":"902","type":19,"guild_id":%q,"channel_id":%q,
		"author":{"id":%q,"username":"ada"},"content":"","referenced_message":{"id":%q,"author":{"id":%q},
		"components":[{"type":1,"components":[{"type":2,"style":4,"custom_id":%q}]}]}}`,
		s.guild.ID, s.room.ID, s.ada.ID, shown.ID, s.account.ID, shown.Buttons()[0].CustomID)))
	s.message(s.room, "Discord hides from me") // its mention was off
	s.press(it, s.ada)
	s.stopped(k, "ada")
}

func untellableWorkStops(t *testing.T) {
	t.Helper()
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

func deliveredTwice(t *testing.T) {
	t.Helper()
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
	check.Equal(t, "prompt", s.next().Prompt, "after")
	check.Equal(t, "replies.Load()", replies.Load(), 1)
}

// A library that does not know a part of a message must not make it deaf.
func unknownParts(t *testing.T) {
	t.Helper()
	s := openStage(t)
	_, k := s.lamps()
	check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", fmt.Sprintf(`{"id":"901","type":19,"guild_id":%q,"channel_id":%q,
		"author":{"id":%q,"username":"ada"},"content":"stop","components":[{"type":99}],"referenced_message":{"id":"1","components":[{"type":98}]}}`,
		s.guild.ID, s.room.ID, s.ada.ID)))
	s.stopped(k, "ada")
}

func missedStop(t *testing.T) {
	t.Helper()
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

func crash(t *testing.T) {
	t.Helper()
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
		return slices.ContainsFunc(slices.Collect(maps.Values(kept)), func(data []byte) bool {
			return strings.Contains(string(data), message.ID)
		})
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
	if m, err := s.WaitEdit(s.ctx(), message.ID, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "clank was restarted")
	}); err != nil || len(m.Buttons()) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	left.wait(s, "nothing any more", func(kept map[string][]byte) bool { return len(kept) == 0 })
}
