package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/test/discordtest"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

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
		"stopped":   {func(s *stage, _ *task) { s.say(s.room, s.ada, "stop") }, `Stopped by`},
		"as a file": {func(_ *stage, k *task) { k.done(strings.Repeat("A long sentence about lamps.\n", 400)) }, "attached file"},
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
			s.bot.Assistant = &assistant.Assistant{Tasks: s.tasks, Model: func(context.Context) (llm.Model, error) { return tc.model, nil }}
			s.open()
			s.say(s.room, s.ada, s.account.Mention()+" lamps")
			k := s.next()
			page := unseenView(s, k)
			m := s.message(s.room, "Step 1")
			tc.end(s, k)
			got, err := s.WaitEdit(s.ctx(), m.ID, func(m discordtest.Message) bool { return strings.Contains(m.Content, tc.want) })
			must(t, err)
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
	if kind := edits[len(edits)-1].Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("the same picture was sent again, as %s", kind)
	}
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
