package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

// stopped waits for the end of a task, and says by whom.
func (s *stage) stopped(k *task, by string) {
	s.t.Helper()
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		s.t.Fatal("the task goes on")
	}
	c := cancel.CauseOf(k.ctx, nil)
	if c == nil {
		s.t.Fatalf("cause = %v", context.Cause(k.ctx))
	}
	check.Equal(s.t, "cause", c.Error(), "stopped by @"+by)
}

// button returns the stop button of the answer to it.
func (s *stage) button(it discordtest.Interaction) (discordtest.Message, string) {
	s.t.Helper()
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return i.Original != nil && len(i.Original.Buttons()) == 1
	})
	check.Must(s.t, err)
	return *got.Original, got.Original.Buttons()[0].CustomID
}

func (s *stage) press(it discordtest.Interaction, who discordtest.User) discordtest.Interaction {
	s.t.Helper()
	m, id := s.button(it)
	pressed, err := s.PressButton(m, who, id)
	check.Must(s.t, err)
	return pressed
}

func TestTheStopButtonStopsForThoseWhoMay(t *testing.T) {
	s := openStage(t)
	for _, who := range []discordtest.User{s.ada, s.mod} {
		it, k := s.lamps()
		k.step("look", nil)
		s.press(it, who)
		s.stopped(k, who.Username)
		got := s.answer(it, `Stopped by \@`+who.Username)
		if slices.Contains(labels(got.Original.Buttons()), "Stop") {
			t.Error("the button is still there")
		}
	}
	it, k := s.lamps()
	k.step("look", nil)
	refused, err := s.WaitAnswer(s.ctx(), s.press(it, s.bob))
	check.Must(t, err)
	want := "Only " + s.ada.Mention() + ", or somebody who may manage messages here, can stop that."
	if refused.Text() != want || !refused.Ephemeral {
		t.Errorf("bob was told %q, want %q", refused.Text(), want)
	}
	k.done("ok")
	s.answer(it, "ok")
}

func TestAButtonOfThePastSaysSo(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	k.step("look", nil)
	m, id := s.button(it)
	hold := s.HoldNext(discordtest.RouteEditResponse)
	k.done("ok")
	<-hold.Arrived()
	pressed, err := s.PressButton(m, s.ada, id)
	check.Must(t, err)
	hold.Release()
	s.answer(it, "ok")
	check.Must(t, check.Err(s.WaitInteraction(s.ctx(), pressed, func(i discordtest.Interaction) bool {
		return i.Answer != 0
	})))
	s.answer(it, "ok")
}

func TestAStopWordStopsTheChannelAtOnce(t *testing.T) {
	s := openStage(t)
	other := s.CreateChannel(s.guild, "elsewhere")
	mine := s.browse(s.ada, discordtest.Args{"task": "lamps"})
	k := s.next()
	theirs, err := s.SlashCommand(other, s.ada, "clank browse", discordtest.Args{"task": "chairs"})
	check.Must(t, err)
	unhurt := s.next()
	// Nothing that Discord delays keeps the stop from happening.
	hold := s.HoldNext(discordtest.RouteCreateMessage)
	k.step("look", nil)
	s.say(s.room, s.ada, "ok, stop please!")
	s.stopped(k, "ada")
	s.answer(mine, `Stopped by \@ada`)
	<-hold.Arrived()
	hold.Release()
	if got := s.message(s.room, "Stopped."); got.Reference == nil || len(got.Mentions) != 0 {
		t.Errorf("the reply pings or replies to nothing: %+v", got)
	}
	unhurt.done("ok")
	s.answer(theirs, "ok")
}

func TestWhoMayStopByWord(t *testing.T) {
	s := newStage(t)
	anyone := false
	s.host.anyone = func() bool { return anyone }
	s.open()
	it, k := s.lamps()
	s.say(s.room, s.bob, "stop")
	s.message(s.room, "Only "+s.ada.Mention()+", or somebody who may manage messages here")
	if k.ctx.Err() != nil {
		t.Fatal("a stranger stopped it")
	}
	s.say(s.room, s.mod, "cancel that")
	s.stopped(k, "mod")
	s.message(s.room, "mod stopped what "+s.ada.Mention()+" asked for.")
	s.answer(it, "Stopped by")
	anyone = true
	it, k = s.lamps()
	s.say(s.room, s.bob, "stop")
	s.stopped(k, "bob")
	s.answer(it, "Stopped by")
}

// asks has somebody ask the bot, whose brain browses at once.
func (s *stage) asks(in discordtest.Channel, who discordtest.User) (discordtest.Message, *task) {
	s.t.Helper()
	return s.say(in, who, s.account.Mention()+" lamps"), s.next()
}

func TestAStopSignStopsWhatItIsBelow(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	direct := s.OpenDM(s.ada, s.account)
	for name, c := range map[string]struct {
		who  discordtest.User
		sign string
		on   func() (discordtest.Message, *task)
		by   string
	}{
		"below the answer to a command": {s.ada, "⏹️", func() (discordtest.Message, *task) {
			it, k := s.lamps()
			k.step("look", nil)
			return *s.answer(it, "Step 1: look").Original, k
		}, "stopped by @ada"},
		"below the question": {
			s.ada, "⏹", func() (discordtest.Message, *task) { return s.asks(s.room, s.ada) },
			"stopped by @ada",
		},
		"by a moderator": {
			s.mod, "🛑", func() (discordtest.Message, *task) { return s.asks(s.room, s.ada) },
			"stopped by @mod",
		},
		"below the progress of a reply": {s.ada, "⏹", func() (discordtest.Message, *task) {
			m, k := s.asks(s.room, s.ada)
			k.step("gaze", nil)
			_, err := s.WaitMessage(s.ctx(), s.room, func(p discordtest.Message) bool {
				m = p
				return p.Reference != nil && strings.Contains(p.Content, "Step 1: gaze")
			})
			check.Must(t, err)
			return m, k
		}, "stopped by @ada"},
		"below a direct message": {
			s.ada, "⏹", func() (discordtest.Message, *task) { return s.asks(direct, s.ada) },
			"stopped",
		},
	} {
		on, k := c.on()
		_, other := s.asks(s.room, s.bob)
		for _, sign := range []string{"👍", ":stop:"} {
			s.React(on, s.ada, sign)
		}
		s.React(on, s.bob, "⏹") // who may not
		s.React(s.say(s.room, s.ada, "just so"), s.ada, "⏹")
		s.React(on, s.account.User, "⏹")
		s.answered(s.command(s.bob, "sessions", nil)) // all that is heard by now
		if k.ctx.Err() != nil {
			t.Fatalf("%s: stopped by what is no sign, or by who may not: %v", name, context.Cause(k.ctx))
		}
		s.React(on, c.who, c.sign)
		select {
		case <-k.ctx.Done():
		case <-s.ctx().Done():
			t.Fatalf("%s: the task goes on", name)
		}
		check.Equal(t, name, context.Cause(k.ctx).Error(), c.by)
		if other.ctx.Err() != nil {
			t.Errorf("%s: another task is stopped, too", name)
		}
		other.done("")
	}
}

func TestAStopSignCountsBeforeDiscordHasSaidWhoseMessageItIsBelow(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	it, k := s.lamps()
	hold := s.HoldNext(discordtest.RouteEditResponse)
	k.step("look", nil)
	<-hold.Arrived()
	thinking, _ := s.Interaction(it.ID)
	s.React(*thinking.Original, s.ada, "⏹")
	s.answered(s.command(s.bob, "sessions", nil)) // the sign has been heard
	hold.Release()
	select {
	case <-k.ctx.Done():
	case <-s.ctx().Done():
		t.Fatal("the task goes on")
	}
}

func TestAMessageEditedToStopStops(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	asked, k := s.asks(s.room, s.ada)
	_, second := s.asks(s.room, s.ada)
	check.Must(t, s.EditMessage(asked, s.account.Mention()+" lamps and chairs"))
	check.Must(t, s.EditMessage(asked, s.account.Mention()+" stop"))
	s.stopped(k, "ada")
	typo := s.say(s.room, s.bob, "shop")
	check.Must(t, s.EditMessage(typo, "stop"))
	s.message(s.room, "Only <@"+s.ada.ID+">")
	if second.ctx.Err() != nil {
		t.Fatal("all is stopped, not only what the message asked for")
	}
	typo = s.say(s.room, s.ada, "shop")
	check.Must(t, s.EditMessage(typo, "stop"))
	s.stopped(second, "ada")
	s.message(s.room, "Stopped.")

	// Discord tells of messages again when it pins them.
	_, k = s.asks(s.room, s.ada)
	old, _ := s.Message(typo.ID)
	for _, edited := range []string{"null", `"2020-01-01T00:00:00Z"`, `"` + old.EditedTimestamp.Format(time.RFC3339Nano) +
		`"`, "7"} {
		check.Must(t, s.Dispatch(s.account, "MESSAGE_UPDATE", fmt.Sprintf(
			`{"id":%q,"channel_id":%q,"guild_id":%q,"content":"stop","author":{"id":%q},"pinned":true,"edited_timestamp":%s}`,
			typo.ID, s.room.ID, s.guild.ID, s.ada.ID, edited)))
	}
	s.answered(s.command(s.bob, "sessions", nil))
	if k.ctx.Err() != nil {
		t.Error("an old edit stops what was asked for since")
	}
	k.done("")
}

func TestThreadsHaveThePermissionsOfTheirChannel(t *testing.T) {
	s := openStage(t)
	s.Overwrite(s.room, s.bob, discordtest.Role{}, discordtest.ManageMessages, 0)
	thread := s.CreateThread(s.room, "below")
	it, err := s.SlashCommand(thread, s.ada, "clank browse", discordtest.Args{"task": "lamps"})
	check.Must(t, err)
	k := s.next()
	s.say(thread, s.bob, "stop")
	s.stopped(k, "bob")
	s.answer(it, "Stopped by")
	if got := len(s.RequestsTo(discordtest.RouteGetGuild)); got != 0 {
		t.Errorf("asked for the guild %d times, want what the gateway told", got)
	}
}

func TestPermissionsThatTheGatewayDidNotTellAreAskedFor(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	check.Must(t, s.Dispatch(s.account, "GUILD_DELETE", `{"id":"`+s.guild.ID+`"}`))
	s.say(s.room, s.mod, "stop")
	s.stopped(k, "mod")
	s.answer(it, "Stopped by")
}

func TestAServerThatIsLeftIsTold(t *testing.T) {
	s := newStage(t)
	left := make(chan string, 4)
	s.host.left = left
	s.open()
	for _, data := range []string{`{"id":"1","unavailable":true}`, `7`, `{}`} { // an outage, and what nobody can read
		check.Must(t, s.Dispatch(s.account, "GUILD_DELETE", data))
	}
	s.RemoveMember(s.guild, s.account.User)
	select {
	case guild := <-left:
		if guild != s.guild.ID || len(left) > 0 {
			t.Errorf("left %s, and %d more", guild, len(left))
		}
	case <-s.ctx().Done():
		t.Error("nobody was told")
	}
}

func TestStopWordsOfBotsAndOfNobodyDoNotCount(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	robot := s.CreateBot("robot", "other")
	s.AddMember(s.guild, robot.User)
	it, k := s.lamps()
	s.say(s.room, robot.User, "stop")
	s.say(s.room, robot.User, s.account.Mention()+" stop")
	hook := `{"id":"5","type":0,"channel_id":"` + s.room.ID + `","guild_id":"` + s.guild.ID +
		`","content":"stop","webhook_id":"7","author":{"id":"` + s.ada.ID + `","username":"ada"}}`
	check.Must(t, s.Dispatch(s.account, "MESSAGE_CREATE", hook))
	s.say(s.room, s.ada, "don't stop")
	s.say(s.room, s.ada, s.account.Mention()+" marker")
	if got := s.next(); got.Prompt != "marker" {
		t.Errorf("began %q", got.Prompt)
	} else {
		got.done("marked")
	}
	s.message(s.room, "marked")
	if k.ctx.Err() != nil {
		t.Error("a bot stopped it")
	}
	k.done("ok")
	s.answer(it, "ok")
	s.close()
	s.unseen(s.room, "can stop that")
}

func TestAStopWordWithNothingToStopIsTalk(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	s.say(s.room, s.ada, "stop")
	s.say(s.room, s.ada, s.account.Mention()+" stop")
	k := s.next()
	check.Equal(t, "prompt", k.Prompt, "stop")
	k.done("ok")
	s.message(s.room, "ok")
	s.unseen(s.room, "Stopped")
}

func TestStopCommand(t *testing.T) {
	s := openStage(t)
	stop := func(who discordtest.User) discordtest.Interaction {
		it := s.command(who, "stop", nil)
		return it
	}
	s.answer(stop(s.ada), "Nothing is running here.")
	it, k := s.lamps()
	if got := s.answer(stop(s.bob), "Only "); !got.Ephemeral {
		t.Error("the refusal is public")
	}
	s.answer(stop(s.mod), "mod stopped what "+s.ada.Mention())
	s.stopped(k, "mod")
	s.answer(it, "Stopped by")
}

func TestAStopWordAlsoEndsAReplyInADirectChannel(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	dm := s.OpenDM(s.ada, s.account)
	s.say(dm, s.ada, "lamps")
	k := s.next()
	s.say(dm, s.ada, "stop")
	s.stopped(k, "ada")
	got := s.message(dm, `Stopped by \@ada.`)
	check.Lacks(t, got.Content, "did not work")
}
