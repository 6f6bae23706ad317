package bot_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/access"

	"github.com/google/go-cmp/cmp"
)

// answering makes the brain answer text, and gives out the turns it was asked.
func (s *stage) answering(text string) <-chan assistant.Turn {
	turns := make(chan assistant.Turn, 10)
	s.replier.reply = func(_ context.Context, t assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		turns <- t
		return assistant.Answer{Text: text}, nil
	}
	return turns
}

func (s *stage) turn(turns <-chan assistant.Turn) assistant.Turn {
	s.t.Helper()
	select {
	case t := <-turns:
		return t
	case <-s.ctx().Done():
		s.t.Fatal("the brain was not asked")
		return assistant.Turn{}
	}
}

func TestAMentionIsAnsweredAsAReplyWithoutPing(t *testing.T) {
	s := newStage(t)
	turns := s.answering("Hello, Ada.")
	s.open()
	s.say(s.room, s.bob, "I was here before")
	m := s.say(s.room, s.ada, s.account.Mention()+" hi there")
	got := s.message(s.room, "Hello, Ada.")
	if got.Reference == nil || got.Reference.MessageID != m.ID || len(got.Mentions) != 0 {
		t.Errorf("reply = %+v", got)
	}
	want := assistant.Turn{
		Typed:  true,
		CanAsk: true,
		Origin: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID,
			UserName: "ada", Roles: []string{}, Locale: "en-US",
		},
		Lines: []assistant.ChatLine{
			{Speaker: "bob", SpeakerID: s.bob.ID, Text: "I was here before"},
			{Speaker: "ada", SpeakerID: s.ada.ID, Text: "hi there"},
		},
	}
	check.Diff(t, "s.turn(turns)", s.turn(turns), want)
	s.say(s.room, s.ada, s.account.Mention()+" and again")
	if got := s.turn(turns).Lines; len(got) != 4 || !got[2].FromAssistant || got[2].Text != "Hello, Ada." {
		t.Errorf("the bot does not know what it said: %+v", got)
	}
}

func TestALostConfirmationMakesNoSecondReply(t *testing.T) {
	s := newStage(t)
	s.answering("Hello, Ada.")
	s.open()
	s.LoseNextAnswer(discordtest.RouteCreateMessage)
	s.say(s.room, s.ada, s.account.Mention()+" hi")
	check.Must(t, check.Err(s.WaitRequest(s.ctx(), discordtest.RouteCreateMessage, 1)))
	s.close()
	check.Equal(t, "messages", len(s.Messages(s.room)), 2)
}

func TestWhoIsAnswered(t *testing.T) {
	s := newStage(t)
	turns := s.answering("ok")
	s.open()
	robot := s.CreateBot("robot", "other")
	s.AddMember(s.guild, robot.User)
	s.say(s.room, s.ada, "not for the bot")
	s.say(s.room, robot.User, s.account.Mention()+" said a robot")
	s.say(s.OpenDM(s.ada, s.account), s.ada, "in private")
	if got := s.turn(turns); got.Lines[len(got.Lines)-1].Text != "in private" || got.Origin.Guild != "" {
		t.Errorf("answered %+v", got)
	}
	s.message(s.OpenDM(s.ada, s.account), "ok")
	s.close()
	s.unseen(s.room, "ok")
	if len(turns) != 0 {
		t.Errorf("also answered %+v", <-turns)
	}
}

func TestListsOfServersAndChannelsHoldForDirectMessages(t *testing.T) {
	for name, served := range map[string]func(s *stage, staff discordtest.Channel) (guilds, channels []string){
		"servers":  func(s *stage, _ discordtest.Channel) ([]string, []string) { return []string{s.guild.ID}, nil },
		"channels": func(_ *stage, staff discordtest.Channel) ([]string, []string) { return nil, []string{staff.ID} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			turns := s.answering("ok")
			staff := s.CreateChannel(s.guild, "staff")
			s.Overwrite(staff, discordtest.User{}, discordtest.Role{}, 0, discordtest.ViewChannel)
			s.Overwrite(staff, s.ada, discordtest.Role{}, discordtest.ViewChannel, 0)
			s.Overwrite(staff, s.account.User, discordtest.Role{}, discordtest.ViewChannel, 0)
			stranger := s.bob
			if name == "servers" {
				s.RemoveMember(s.guild, s.bob)
				s.Install(s.account, s.bob) // no stranger to the bot can write to it
			}
			s.host.served = func() ([]string, []string) { return served(s, staff) }
			s.host.disabled = func(o sessions.Origin) string {
				r := access.Rules{Direct: true}
				r.Guilds, r.Channels = s.host.served()
				if err := r.Check(sessions.Origin{User: o.User, Guild: o.Guild, Sees: o.Sees}); err != nil {
					return err.Error()
				}
				return ""
			}
			s.open()
			s.say(s.OpenDM(stranger, s.account), stranger, "read my mail")
			s.message(s.OpenDM(stranger, s.account), "members of the servers")
			for range 2 {
				s.say(s.OpenDM(s.ada, s.account), s.ada, "in private")
				s.turn(turns)
			}
			if got := len(s.RequestsTo(discordtest.RouteGetMember)); got != 2 {
				t.Errorf("asked for members %d times, want once for each person", got)
			}
		})
	}
}

func TestTypingIsShownForTheWholeTurn(t *testing.T) {
	s := newStage(t)
	release := make(chan struct{})
	s.replier.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
		<-release
		return assistant.Answer{Text: "ok"}, nil
	}
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" hi")
	check.Must(t, s.Wait(s.ctx(), "typing", func() bool { return len(s.Typing(s.room)) == 1 }))
	close(release)
	s.message(s.room, "ok")
}

func TestABrowseOfTheBrainShowsItsProgressInTheReply(t *testing.T) {
	s := newStage(t)
	s.bot.Assistant = &assistant.Assistant{Tasks: s.tasks, Host: sessionstest.AssistantHost{LLM: talker{}}}
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" show me lamps")
	k := s.next()
	view := picture(1)
	k.step("open shop.example", &view)
	m := s.message(s.room, "Step 1: open shop")
	if len(m.Attachments) != 1 || len(m.Buttons()) != 1 {
		t.Errorf("progress = %+v", m)
	}
	k.done("three lamps", picture(2), picture(3))
	got, err := s.WaitEdit(s.ctx(), m.ID, func(m discordtest.Message) bool { return m.Content == "Here they are." })
	check.Must(t, err)
	if len(got.Attachments) != 2 || len(got.Buttons()) != 0 {
		t.Errorf("answer = %+v", got)
	}
	check.Equal(t, "messages", len(s.Messages(s.room)), 2)
}

// talker is a model that browses once and then answers.
type talker struct{}

func (talker) Name() string   { return "test:talker" }
func (talker) Caps() llm.Caps { return llm.Caps{Tools: true, Vision: true, ToolImages: true} }

func (talker) Generate(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	if req.Messages[len(req.Messages)-1].Parts[0].Result != nil {
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "Here they are."}}}}, nil
	}
	call := &llm.ToolCall{ID: "1", Name: "browser_browse", Input: []byte(`{"query":"show lamps"}`)}
	return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: call}}}}, nil
}

func TestWithoutAModelTheMentionIsTheTask(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+` open shop.example, click "Lamps"`)
	k := s.next()
	check.Equal(t, "prompt", k.Prompt, `open shop.example, click "Lamps"`)
	k.done("three lamps", picture(1))
	if got := s.message(s.room, "three lamps"); len(got.Attachments) != 1 {
		t.Error("the picture is missing")
	}
	s.say(s.room, s.ada, s.account.Mention())
	s.message(s.room, "Tell me what to do")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAFailingBrainIsTold(t *testing.T) {
	s := newStage(t)
	var fail error
	s.replier.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
		return assistant.Answer{}, fail
	}
	s.open()
	for _, tc := range []struct {
		err  error
		want string
	}{
		{
			&llm.Error{Kind: llm.ErrAuth, Model: "openai:x", Message: "the key is not accepted", Hint: "check OPENAI_API_KEY"},
			`the key is not accepted \(check OPENAI\_API\_KEY\)`,
		},
		{errors.New("tape torn"), "That did not work. Tape torn."},
		{sessions.ErrQueueFull, "The line is full."},
	} {
		fail = tc.err
		m := s.say(s.room, s.ada, s.account.Mention()+" hi")
		got, err := s.WaitMessage(s.ctx(), s.room, func(r discordtest.Message) bool {
			return r.Reference != nil && r.Reference.MessageID == m.ID
		})
		if err != nil || !strings.Contains(got.Content, tc.want) {
			t.Errorf("told %q (%v), want %q", got.Content, err, tc.want)
		}
	}
}

func TestAPanicLosesOneMessageAlone(t *testing.T) {
	s := newStage(t)
	s.replier.reply = func(_ context.Context, tn assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
		if strings.Contains(tn.Lines[len(tn.Lines)-1].Text, "boom") {
			panic("boom")
		}
		return assistant.Answer{Text: "still here"}, nil
	}
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" boom")
	s.say(s.room, s.ada, s.account.Mention()+" hello?")
	s.message(s.room, "still here")
	s.close()
	if got := s.scopes.Active(scopeOf(s)); len(got) > 0 {
		t.Errorf("work is left behind: %v", got)
	}
}

func TestWhatIsOldOrUnreadableIsNotPartOfTheConversation(t *testing.T) {
	s := newStage(t)
	turns := s.answering("ok")
	s.open()
	old := s.say(s.room, s.bob, "yesterday's news")
	s.Advance(24 * time.Hour)
	s.say(s.room, s.ada, s.account.Mention()+" hi")
	if got := s.turn(turns).Lines; len(got) != 1 {
		t.Errorf("lines = %+v", got)
	}
	s.message(s.room, "ok")
	if _, err := s.Send(s.room, s.ada, discordtest.Post{
		Text:  s.account.Mention() + " what of this",
		Reply: &old,
	}); err != nil {
		t.Fatal(err)
	}
	got := s.turn(turns).Lines
	if got[0].Text != "yesterday's news" {
		t.Errorf("the message that was replied to is missing: %+v", got)
	}
	s.FailNext(discordtest.RouteListMessages, http.StatusForbidden)
	s.say(s.room, s.ada, s.account.Mention()+" alone")
	if got := s.turn(turns).Lines; len(got) != 1 || got[0].Text != "alone" {
		t.Errorf("lines = %+v", got)
	}
}

func TestTheSecretOfALinkIsNotToldToTheModel(t *testing.T) {
	s := newStage(t)
	turns := s.answering("ok")
	s.open()
	secret := strings.Repeat("aB3-_", 14)
	check.Must(t, s.bot.Post(t.Context(), s.room.ID, "ada shares a browser page.\nhttps://watch.example/w/#"+secret, nil))
	s.say(s.room, s.ada, s.account.Mention()+" what did you share?")
	got := s.turn(turns).Lines
	if len(got) != 2 || strings.Contains(got[0].Text, secret[:20]) ||
		!strings.Contains(got[0].Text, "https://watch.example/w/#") {
		t.Errorf("lines = %+v, want the address without its secret", got)
	}
}

// noEntry refuses everybody, and gives out who was refused.
func (s *stage) noEntry() <-chan sessions.Origin {
	asked := make(chan sessions.Origin, 10)
	s.host.disabled = func(o sessions.Origin) string {
		asked <- o
		return "this server is not on the list"
	}
	return asked
}

func TestAMentionByWhomIsNotServedIsAnsweredWithTheReasonAlone(t *testing.T) {
	s := newStage(t)
	turns := s.answering("Hello.")
	asked := s.noEntry()
	s.open()
	s.say(s.room, s.mod, s.account.Mention()+" hi")
	s.message(s.room, "This server is not on the list.")
	o := <-asked
	if o.User != s.mod.ID || o.Guild != s.guild.ID || o.Channel != s.room.ID || len(o.Roles) != 1 {
		t.Errorf("judged by %+v, want who and where, with the one role", o)
	}
	select {
	case turn := <-turns:
		t.Errorf("the brain was asked all the same: %+v", turn)
	default:
	}
}

func TestAThreadIsJudgedByTheChannelItIsPartOf(t *testing.T) {
	s := newStage(t)
	asked := s.noEntry()
	s.open()
	thread := s.CreateThread(s.room, "lamps")
	s.say(thread, s.ada, s.account.Mention()+" hi")
	s.message(thread, "This server is not on the list.")
	if o := <-asked; o.Channel != thread.ID || o.Parent != s.room.ID {
		t.Errorf("judged by channel %s of %s, want %s of %s", o.Channel, o.Parent, thread.ID, s.room.ID)
	}
	it, err := s.SlashCommand(thread, s.mod, "clank browse", discordtest.Args{"task": "lamps"})
	check.Must(t, err)
	s.answer(it, "This server is not on the list.")
	if o := <-asked; o.Parent != s.room.ID || len(o.Roles) != 1 {
		t.Errorf("a command is judged by %+v, want the thread's channel and the role", o)
	}
}

func TestAWishForAProfileReachesTheTask(t *testing.T) {
	s := openStage(t)
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "profile": " work "})
	k := s.next()
	check.Equal(t, "profile", k.Profile, "work")
	k.done("ok")
	s.answer(it, "ok")
}

func TestWhatIsAskedInADirectMessageIsPrivate(t *testing.T) {
	s := newStage(t)
	turns := s.answering("Hello.")
	s.open()
	dm := s.OpenDM(s.ada, s.account)
	s.say(dm, s.ada, "my bank")
	if o := s.turn(turns).Origin; !o.Private {
		t.Errorf("origin %+v, want it private", o)
	}
}

// working lets ada ask for a browse, whose message it returns, and makes its
// task hear what its owner, or a moderator, says.
func (s *stage) working() (shown discordtest.Message, k *task, heard chan string) {
	s.t.Helper()
	s.plainBrain()
	s.open()
	s.say(s.room, s.ada, s.account.Mention()+" find a lamp")
	k = s.next()
	k.ID = "t1"
	k.step("click the first link", nil)
	heard = make(chan string, 10)
	s.tasks.mu.Lock()
	s.tasks.say = func(id string, from sessions.Origin, text string) (string, error) {
		switch {
		case id != "t1" && id != "s1":
			return "", fmt.Errorf("no task %s: %w", id, sessions.ErrNotFound)
		case from.User != s.ada.ID && !from.Moderator:
			return "", fmt.Errorf("task t1 belongs to ada: %w", sessions.ErrNotOwner)
		}
		heard <- from.UserName + ": " + text
		return "t1", nil
	}
	s.tasks.mu.Unlock()
	return s.message(s.room, "click the first link"), k, heard
}

func (s *stage) heard(heard <-chan string, want string) {
	s.t.Helper()
	select {
	case got := <-heard:
		check.Equal(s.t, "the task heard", got, want)
	case <-s.ctx().Done():
		s.t.Fatalf("the task did not hear %q", want)
	}
}

func (s *stage) replyTo(m discordtest.Message, who discordtest.User, text string) {
	s.t.Helper()
	check.Must(s.t, check.Err(s.Send(s.room, who, discordtest.Post{Text: text, Reply: &m})))
}

func TestAReplyToARunningTaskIsHeardByIt(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	s.replyTo(shown, s.ada, "the second one instead")
	s.heard(heard, "ada: the second one instead")
	s.message(s.room, "Passed on. It is heard before the next step.")
	k.done("39 €")
	s.message(s.room, "39 €")
	check.Equal(t, "more tasks began", len(s.tasks.begun), 0)
}

func TestOnlyTheOwnerAndModeratorsAreHeard(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	s.replyTo(shown, s.bob, "the third one")
	s.message(s.room, "Task t1 belongs to ada")
	s.replyTo(shown, s.mod, "leave that alone")
	s.heard(heard, "mod: leave that alone")
	k.done("39 €")
	s.message(s.room, "39 €")
}

func TestAMentionWithoutABrainIsHeardByTheRunningTask(t *testing.T) {
	s := newStage(t)
	_, k, heard := s.working()
	s.tasks.mu.Lock()
	s.tasks.sessions = []sessions.Session{{
		ID: "s1", State: sessions.SessionRunning, Origin: sessions.Origin{User: s.ada.ID, Channel: s.room.ID},
	}}
	s.tasks.mu.Unlock()
	s.say(s.room, s.ada, s.account.Mention()+" the red one")
	s.heard(heard, "ada: the red one")
	s.message(s.room, "Passed on to the running task.")
	k.done("39 €")
	s.message(s.room, "39 €")
}

func TestAStopWordInAReplyStillStops(t *testing.T) {
	s := newStage(t)
	shown, _, heard := s.working()
	s.replyTo(shown, s.ada, "stop")
	s.message(s.room, "Stopped.")
	if len(heard) != 0 {
		t.Errorf("the task heard %q", <-heard)
	}
}

func TestAReplyToWhatHasEndedIsTalk(t *testing.T) {
	s := newStage(t)
	shown, k, heard := s.working()
	k.done("39 €")
	s.message(s.room, "39 €")
	s.replyTo(shown, s.ada, s.account.Mention()+" and another?")
	k = s.next()
	if k.Prompt != "and another?" || len(heard) != 0 {
		t.Errorf("the next task is %q", k.Prompt)
	}
	k.done("yes")
	s.message(s.room, "yes")
}

// unseenView lets a task see a page that no edit shows any more, because the
// next one is far off.
func unseenView(s *stage, k *task) llm.Image {
	s.t.Helper()
	page := picture(7)
	k.step("open shop.example", nil)
	if err := s.Wait(s.ctx(), "progress", func() bool {
		return len(s.RequestsTo(discordtest.RouteEditResponse))+len(s.RequestsTo(discordtest.RouteCreateMessage)) > 0
	}); err != nil {
		s.t.Fatal(err)
	}
	k.step("look", &page)
	k.step("read", nil)
	return page
}

// hasPicture checks that m shows want and nothing else.
func hasPicture(t *testing.T, m discordtest.Message, want llm.Image) {
	t.Helper()
	if a := m.Attachments; len(a) != 1 || !cmp.Equal(a[0].Data, want.Data) {
		t.Errorf("%q has %d attachments, want the last view alone", m.Content, len(a))
	}
}

func TestABrowseWithoutChosenPicturesEndsWithTheLastView(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(*stage, *task)
		want string
	}{
		"done":              {func(_ *stage, k *task) { k.done("the answer") }, "the answer"},
		"without an answer": {func(_ *stage, k *task) { k.done("") }, "nothing to report"},
		"failed": {func(_ *stage, k *task) {
			k.end <- ending{rec: sessions.TaskRecord{State: sessions.TaskFailed, Reason: "the page broke"}}
		}, "The page broke."},
		"stopped": {func(s *stage, _ *task) { s.say(s.room, s.ada, "stop") }, `Stopped by`},
		"as a file": {
			func(_ *stage, k *task) { k.done(strings.Repeat("A long sentence about lamps.\n", 400)) },
			"attached file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.bot.EditInterval = time.Hour
			s.open()
			it, k := s.lamps()
			page := unseenView(s, k)
			tc.end(s, k)
			got := *s.answer(it, tc.want).Original
			if name == "as a file" {
				if len(got.Attachments) != 2 || got.Attachments[0].Filename != "answer.md" {
					t.Fatalf("attachments = %+v, want the file and the view", got.Attachments)
				}
				got.Attachments = got.Attachments[1:]
			}
			hasPicture(t, got, page)
		})
	}
}

func TestAReplyWithoutChosenPicturesEndsWithTheLastView(t *testing.T) {
	for name, tc := range map[string]struct {
		model llm.Model
		end   func(*stage, *task)
		want  string
	}{
		"as the task":  {nil, func(_ *stage, k *task) { k.done("the answer") }, "the answer"},
		"with a model": {talker{}, func(_ *stage, k *task) { k.done("the answer") }, "Here they are."},
		"stopped":      {nil, func(s *stage, _ *task) { s.say(s.room, s.ada, "stop") }, `Stopped by`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.bot.EditInterval = time.Hour
			s.bot.Assistant = &assistant.Assistant{Tasks: s.tasks, Host: sessionstest.AssistantHost{LLM: tc.model}}
			s.open()
			s.say(s.room, s.ada, s.account.Mention()+" lamps")
			k := s.next()
			page := unseenView(s, k)
			m := s.message(s.room, "Step 1")
			tc.end(s, k)
			got, err := s.WaitEdit(s.ctx(), m.ID, func(m discordtest.Message) bool {
				return strings.Contains(m.Content, tc.want)
			})
			check.Must(t, err)
			hasPicture(t, got, page)
		})
	}
}

func TestAViewThatIsShownAlreadyIsNotSentAgain(t *testing.T) {
	s := openStage(t)
	it, k := s.lamps()
	page := picture(1)
	k.step("look", &page)
	s.answer(it, "look")
	k.done("the answer")
	hasPicture(t, *s.answer(it, "the answer").Original, page)
	edits := s.RequestsTo(discordtest.RouteEditResponse)
	check.Equal(t, "the same picture was sent again, as", edits[len(edits)-1].Header.Get("Content-Type"),
		"application/json")
}

func TestTheLastViewOfAPrivateBrowseIsPrivate(t *testing.T) {
	s := newStage(t)
	s.bot.EditInterval = time.Hour
	s.open()
	it := s.browse(s.ada, discordtest.Args{"task": "lamps", "private": true})
	k := s.next()
	if !k.Origin.Private {
		t.Error("the task does not know that it is private")
	}
	page := unseenView(s, k)
	k.done(strings.Repeat("A long sentence about lamps. ", 100))
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool { return len(i.Followups) == 1 })
	if err != nil || !got.Ephemeral {
		t.Fatalf("private: %v, %v", got.Ephemeral, err)
	}
	hasPicture(t, got.Followups[0], page)
	if len(got.Original.Attachments) != 0 || got.Followups[0].ViewerID != s.ada.ID || len(s.Messages(s.room)) != 0 {
		t.Errorf("others can see it: %+v, %v", got, s.Messages(s.room))
	}

	it = s.browse(s.ada, discordtest.Args{"task": "chairs", "private": true})
	k = s.next()
	k.step("look", &page)
	s.answer(it, "look")
	s.ForgetInteraction(it.ID)
	k.done("the chairs")
	hasPicture(t, s.message(s.OpenDM(s.ada, s.account), "the chairs"), page)
	s.unseen(s.room, "the chairs")
}
