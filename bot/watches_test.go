package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/test/discordtest"
	"clank/internal/watches"
	"clank/sessions"
)

// watched has watches that a test sets.
type watched struct {
	mu    sync.Mutex
	asked watches.Watch
	list  []watches.Watch
	query watches.Query
	err   error
	by    cancel.Actor
	from  sessions.Origin
}

func (w *watched) Add(_ context.Context, x watches.Watch) (watches.Watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = x
	x.ID, x.What, x.Every, x.Until, x.Seen = "w1", "it is *cheap*", time.Hour, time.Now().Add(time.Hour), watches.Seen{Value: "**18 €**", Met: true}
	return x, w.err
}

func (w *watched) List(_ context.Context, q watches.Query) ([]watches.Watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.query = q
	return w.list, w.err
}

func (w *watched) End(_ context.Context, id string, from sessions.Origin, by cancel.Actor) (watches.Watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.by = from, by
	return watches.Watch{ID: id, URL: "https://shop.test/"}, w.err
}

func watchStage(t *testing.T) (*stage, *watched) {
	t.Helper()
	s, w := newStage(t), &watched{}
	s.bot.Watches = w
	s.open()
	return s, w
}

func TestAWatchIsBegunByCommand(t *testing.T) {
	s, w := watchStage(t)
	it := s.command(s.ada, "watch", discordtest.Args{"url": "shop.test", "below": 19.5, "near": "Price", "every": 30, "days": 2, "private": true})
	got := s.answer(it, "`/clank watches end:w1`")
	if !got.Ephemeral || !strings.Contains(got.Text(), `\*\*18 €`) || !strings.Contains(got.Text(), `it is \*cheap\*`) || !strings.Contains(got.Text(), "so already") {
		t.Errorf("answer (private: %v): %s", got.Ephemeral, got.Text())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.asked
	if a.URL != "shop.test" || a.Condition != (watches.Condition{Kind: watches.KindBelow, Number: 19.5, Near: "Price"}) || a.Every != 30*time.Minute ||
		a.Origin.User != s.ada.ID || a.Origin.Channel != s.room.ID || !a.Origin.Private {
		t.Errorf("asked for %+v", a)
	}
}

func TestAWatchThatIsNotPossibleIsSaid(t *testing.T) {
	s, w := watchStage(t)
	s.answer(s.command(s.ada, "watch", discordtest.Args{"url": "x", "below": 1, "above": 2}), "Choose one of")
	w.err = errors.New("there are too many watches")
	s.answer(s.command(s.ada, "watch", discordtest.Args{"url": "x"}), "Not watched: there are too many watches")
}

func TestWhoMayNotUseClankMayNotWatch(t *testing.T) {
	s, w := newStage(t), &watched{}
	s.bot.Watches = w
	s.bot.Disabled = func(context.Context, sessions.Origin) string { return "not here" }
	s.open()
	s.answer(s.command(s.ada, "watch", discordtest.Args{"url": "x"}), "Not here.")
	if w.asked.URL != "" {
		t.Error("the watch was begun")
	}
}

func TestWatchesAreListedAndEnded(t *testing.T) {
	s, w := watchStage(t)
	s.answer(s.command(s.ada, "watches", nil), "Nothing is watched for you")
	w.list = []watches.Watch{{ID: "w1", URL: "https://shop.test/", What: "cheaper", Problem: "away"}}
	if got := s.answer(s.command(s.ada, "watches", nil), "`w1`"); !got.Ephemeral || !strings.Contains(got.Text(), "last time: away") {
		t.Errorf("list: %s", got.Text())
	}
	if o := w.query.Owner; o == nil || o.User != s.ada.ID || !o.Discord {
		t.Errorf("asked for the watches of %+v", o)
	}
	s.answer(s.command(s.mod, "watches", discordtest.Args{"end": "w1"}), "is not watched any more")
	if !w.by.Moderator || w.by.ID != s.mod.ID || w.from.Guild != s.guild.ID {
		t.Errorf("ended by %+v from %+v", w.by, w.from)
	}
	w.err = watches.ErrForbidden
	s.answer(s.command(s.bob, "watches", discordtest.Args{"end": "w1"}), "This is somebody else's watch.")
}

func TestTheOwnerOfAWatchIsToldWithAMention(t *testing.T) {
	s, _ := watchStage(t)
	o := sessions.Origin{Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID}
	n := watches.Notice{Kind: watches.NoticeMet, Text: "The page has changed.", Diff: []string{"- old <@" + s.bob.ID + ">", "+ [new](https://evil.test)"}}
	w := watches.Watch{ID: "w1", Origin: o, URL: "https://shop.test/a", What: "it changes", State: watches.StateActive}
	must(t, s.bot.NotifyWatch(t.Context(), w, n))
	m := s.message(s.room, "you wanted to know when it changes.")
	for _, want := range []string{"<@" + s.ada.ID + ">", "➖ old", `➕ \[new\]`, "<https://shop.test/a>", "`/clank watches end:w1`"} {
		if !strings.Contains(m.Content, want) {
			t.Errorf("%q is not in:\n%s", want, m.Content)
		}
	}
	if len(m.Mentions) != 1 || m.Mentions[0].ID != s.ada.ID {
		t.Errorf("mentioned: %+v", m.Mentions)
	}
	w.Origin.Private = true
	must(t, s.bot.NotifyWatch(t.Context(), w, watches.Notice{Kind: watches.NoticeEnded, Text: "The time of this watch is over."}))
	s.unseen(s.room, "is over")
}

func TestWithoutWatchesThereAreNoCommandsForThem(t *testing.T) {
	s := openStage(t)
	if _, err := s.SlashCommand(s.room, s.ada, "clank watch", discordtest.Args{"url": "x"}); err == nil {
		t.Error("the command is there")
	}
}

func TestWhoAskedIsLookedUpAgain(t *testing.T) {
	s, _ := watchStage(t)
	staff := s.CreateRole(s.guild, "staff", 0)
	eve := s.CreateUser("eve")
	s.AddMember(s.guild, eve, staff)
	asked := sessions.Origin{Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: eve.ID}
	if got, err := s.bot.RefreshOrigin(t.Context(), asked); err != nil || !slices.Equal(got.Roles, []string{staff.ID}) {
		t.Errorf("got %+v, %v", got, err)
	}
	s.RemoveMember(s.guild, eve)
	if _, err := s.bot.RefreshOrigin(t.Context(), asked); !errors.Is(err, bot.ErrLeftGuild) {
		t.Errorf("after eve left: %v, want %v", err, bot.ErrLeftGuild)
	}
	if got, err := s.bot.RefreshOrigin(t.Context(), sessions.Origin{Kind: sessions.FromDiscord, User: eve.ID}); err != nil || got.User != eve.ID {
		t.Errorf("in a direct message: %+v, %v", got, err)
	}
}
