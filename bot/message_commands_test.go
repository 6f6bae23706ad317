package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clank/internal/assistant"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/sessions"
	"clank/sessions/approval"
)

const (
	browseLink = "Browse this link"
	askAbout   = "Ask clank about this message"
)

// useOn uses a command of the menu of a message that Bob has written.
func (s *stage) useOn(text, command string) discordtest.Interaction {
	s.t.Helper()
	it, err := s.UseOnMessage(s.say(s.room, s.bob, text), s.ada, command)
	check.Must(s.t, err)
	return it
}

func TestALinkOfAMessageIsBrowsedAndWasNotTyped(t *testing.T) {
	s := openStage(t)
	for text, want := range map[string]string{
		"see https://shop.example/lamps?a=1#b, it is **good**":              "https://shop.example/lamps?a=1#b",
		"<https://shop.example/a>":                                          "https://shop.example/a",
		"[lamps](https://shop.example/b) and https://shop.example/b, twice": "https://shop.example/b",
		"(https://en.example/wiki/Lamp_(oil))":                              "https://en.example/wiki/Lamp_(oil)",
		"http://shop.example/c!":                                            "http://shop.example/c",
	} {
		it := s.useOn(text, browseLink)
		k := s.next()
		if k.Prompt != "open "+want+"\nread what the page says" || k.Typed || k.Origin.User != s.ada.ID ||
			k.Origin.Channel != s.room.ID {
			t.Errorf("%s: got %+v", text, k.Task)
		}
		k.done("read it")
		s.answer(it, "read it")
	}
	for _, text := range []string{"no link", "ftp://shop.example", "https://" + strings.Repeat("a", 600)} {
		if got := s.answered(s.useOn(text, browseLink)); !got.Ephemeral || got.Text() != "There is no link in that message." {
			t.Errorf("%s: got %q", text, got.Text())
		}
	}
}

func TestOneOfSeveralLinksIsChosen(t *testing.T) {
	s := openStage(t)
	var text strings.Builder
	for n := range 40 {
		fmt.Fprintf(&text, "https://shop.example/%d/%s ", n, strings.Repeat("x", 20))
	}
	got := s.answered(s.useOn(text.String(), browseLink))
	menu := got.Original.Components[0].Components[0]
	if !got.Ephemeral || len(menu.Options) != 25 || !strings.Contains(got.Text(), "\n2. <https://shop.example/1/xx") {
		t.Fatalf("got %q with %+v", got.Text(), menu)
	}
	_, err := s.Choose(*got.Original, s.ada, menu.CustomID, menu.Options[1].Value)
	check.Must(t, err)
	k := s.next()
	if !strings.HasPrefix(k.Prompt, "open https://shop.example/1/xx") || k.Typed {
		t.Errorf("got %+v", k.Task)
	}
	k.done("")
}

func TestThoseWhoMayNotWriteAreNotOfferedMessageCommands(t *testing.T) {
	s := openStage(t)
	m := s.say(s.room, s.bob, "https://shop.example")
	s.Overwrite(s.room, s.ada, discordtest.Role{}, 0, discordtest.SendMessages)
	for _, name := range []string{browseLink, askAbout} {
		check.Fails(t, check.Err(s.UseOnMessage(m, s.ada, name)), discordtest.ErrMissingPerms)
	}
}

func TestAQuestionAboutAMessageQuotesIt(t *testing.T) {
	s := newStage(t)
	turns := make(chan assistant.Turn, 1)
	s.replier.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		turns <- turn
		return assistant.Answer{Text: "It is."}, nil
	}
	s.open()
	m, err := s.SendMessage(s.room, s.bob, "lamps are cheap", discordtest.File{
		Name: "a.png", ContentType: "image/png", Data: picture(1).Data,
	})
	check.Must(t, err)
	it, err := s.UseOnMessage(m, s.ada, askAbout)
	check.Must(t, err)
	form := s.answered(it)
	it, err = s.SubmitModal(form, map[string]string{"task": "is this true?"})
	check.Must(t, err)
	s.answer(it, "> is this true?\nIt is.")
	turn := <-turns
	if len(turn.Lines) != 2 || len(turn.Files) != 1 || !turn.Typed || turn.Origin.User != s.ada.ID {
		t.Fatalf("got %+v", turn)
	}
	quoted, asked := turn.Lines[0], turn.Lines[1]
	if quoted.Speaker != "bob" || quoted.SpeakerID != "" || quoted.Text != "lamps are cheap" || len(quoted.Images) != 1 ||
		!quoted.Subject {
		t.Errorf("quoted: %+v", quoted)
	}
	check.Diff(t, "asked", asked, assistant.ChatLine{Speaker: "ada", SpeakerID: s.ada.ID, Text: "is this true?"})
	s.close()
	s.bot = s.newBot()
	s.open()
	it, err = s.SubmitModal(form, map[string]string{"task": "is this true?"})
	check.Must(t, err)
	if got := s.answered(it); !got.Ephemeral || got.Text() != "I have been restarted since. Please choose the "+
		"message again." {
		t.Errorf("after a restart: %q", got.Text())
	}
}

func TestWhoIsShutOutGetsNoAnswerAboutAMessage(t *testing.T) {
	s := newStage(t)
	s.host.disabled = func(o sessions.Origin) string { return "not for " + o.UserName }
	s.open()
	it, err := s.SubmitModal(s.answered(s.useOn("lamps", askAbout)), map[string]string{"task": "true?"})
	check.Must(t, err)
	s.answer(it, "Not for ada.")
}

// TestAPersonBringsTheBotAlong uses commands where the bot is no member: all is between the bot and that person.
func TestAPersonBringsTheBotAlong(t *testing.T) {
	s := newStage(t)
	s.Install(s.account, s.ada)
	abroad := s.CreateGuild("abroad", s.bob)
	s.AddMember(abroad, s.ada)
	var from sessions.Origin
	s.host.disabled = func(o sessions.Origin) string { from = o; return "" }
	s.open()
	for name, in := range map[string]discordtest.Channel{
		"a group": s.CreateGroup(s.ada, s.bob), "a server": s.CreateChannel(abroad, "general"),
	} {
		m := s.say(in, s.bob, "https://shop.example")
		it, err := s.UseOnMessage(m, s.ada, browseLink)
		check.Must(t, err)
		k := s.next()
		if from.Guild != "" || !k.Origin.Private || k.Origin.Channel != in.ID {
			t.Errorf("%s: it comes from %+v", name, k.Origin)
		}
		k.step("open", nil)
		shown := s.answer(it, "Step 1: open")
		if !shown.Ephemeral {
			t.Errorf("%s: everybody sees it", name)
		}
		asked, q := s.ask(approval.ClassBuy, func(q *approval.Question) { q.Guild, q.Channel, q.Private = "", in.ID, true })
		s.pressLabel(q, s.ada, "Allow")
		if a := <-asked.answer; !a.Allowed {
			t.Errorf("%s: the answer is %+v", name, a)
		}
		over := func(m discordtest.Message) bool { return m.ID == q.ID && len(m.Buttons()) == 0 }
		check.Must(t, check.Err(s.WaitMessage(s.ctx(), s.OpenDM(s.ada, s.account), over))) // the next is not taken for it
		s.pressLabel(*shown.Original, s.ada, "Stop")
		s.answer(it, "Stopped by")
		_, err = s.SlashCommand(in, s.ada, "clank browse", discordtest.Args{"task": "lamps"})
		check.Must(t, err)
		s.next()
		it, err = s.SlashCommand(in, s.ada, "clank stop", nil)
		check.Must(t, err)
		if got := s.answer(it, "Stopped."); !got.Ephemeral {
			t.Errorf("%s: everybody is told of the stop", name)
		}
		if _, err := s.SlashCommand(in, s.bob, "clank browse", discordtest.Args{"task": "x"}); !errors.Is(err,
			discordtest.ErrNoCommand) {
			t.Errorf("%s: who has not installed it: %v", name, err)
		}
	}
}

func TestALongAnswerAbroadGoesOnDirectly(t *testing.T) {
	s := openStage(t)
	s.Install(s.account, s.ada)
	it, err := s.SlashCommand(s.CreateGroup(s.ada, s.bob), s.ada, "clank browse", discordtest.Args{"task": "lamps"})
	check.Must(t, err)
	k := s.next()
	dir := t.TempDir()
	var list []sessions.File
	for n := range 4 {
		list = append(list, offered(t, dir, fmt.Sprintf("%d.pdf", n), 6<<20))
	}
	k.end <- ending{rec: sessions.TaskRecord{
		State: sessions.TaskDone, Answer: strings.Repeat("word ", 1500),
		Downloads: list,
	}}
	_, err = s.WaitMessage(s.ctx(), s.OpenDM(s.ada, s.account), func(m discordtest.Message) bool {
		return len(m.Attachments) == 1 && m.Attachments[0].Filename == "3.pdf"
	})
	check.Must(t, err)
	if got, _ := s.Interaction(it.ID); len(got.Followups) != 5 {
		t.Errorf("%d follow-ups, want 5", len(got.Followups))
	}
}

func TestAMessageWithUnknownPartsCanBeAskedAbout(t *testing.T) {
	s := openStage(t)
	for n, parts := range []string{`"components":[{"type":99}]`, `"components":{}`, `"message_snapshots":7`} {
		check.Must(t, s.Dispatch(s.account, "INTERACTION_CREATE", fmt.Sprintf(
			`{"id":"7%d","application_id":%q,"type":2,"token":"t","channel_id":%q,"guild_id":%q,`+
				`"member":{"user":{"id":%q,"username":"ada"},"permissions":"2048"},"data":{"id":"1","name":%q,"type":3,"target_id":"5",`+
				`"resolved":{"messages":{"5":{"id":"5","channel_id":%q,"content":"https://shop.example/%d",%s}}}}}`,
			n, s.account.ID, s.room.ID, s.guild.ID, s.ada.ID, browseLink, s.room.ID, n, parts)))
		if k := s.next(); !strings.Contains(k.Prompt, fmt.Sprint("https://shop.example/", n)) {
			t.Errorf("%s: %q", parts, k.Prompt)
		} else {
			k.done("")
		}
	}
}

func TestOnAPrivateServerOnlyWhoUsesAMessageCommandSeesWhatComesOfIt(t *testing.T) {
	s := newStage(t)
	m, _ := s.serverSettings()
	on := map[string]json.RawMessage{settings.ServerPrivate: json.RawMessage("true")}
	check.Must(t, m.UpdateGuild(t.Context(), s.guild.ID, on, m.Guild(s.guild.ID).Version))
	turns := make(chan assistant.Turn, 1)
	s.replier.reply = func(_ context.Context, turn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		turns <- turn
		return assistant.Answer{Text: "It is, secretly."}, nil
	}
	s.open()
	it := s.useOn("https://shop.example", browseLink)
	k := s.next()
	if !k.Origin.Private {
		t.Errorf("the task is not private: %+v", k.Origin)
	}
	k.step("open secretly", nil)
	shown := s.answer(it, "open secretly")
	k.done("read secretly")
	read := s.answer(it, "read secretly")
	it, err := s.SubmitModal(s.answered(s.useOn("lamps", askAbout)), map[string]string{"task": "true?"})
	check.Must(t, err)
	said := s.answer(it, "It is, secretly.")
	if !shown.Ephemeral || !read.Ephemeral || !said.Ephemeral {
		t.Errorf("others see progress %t, answer %t, reply %t", !shown.Ephemeral, !read.Ephemeral, !said.Ephemeral)
	}
	if turn := <-turns; !turn.Origin.Private {
		t.Errorf("the question is not private: %+v", turn.Origin)
	}
	for _, seen := range s.MessagesFor(s.room, s.bob) {
		check.Lacks(t, seen.Content, "secretly")
	}
}
