package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/watches"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

func TestWhatThereIsNotIsNotOffered(t *testing.T) {
	calls := []*discordgo.ApplicationCommandOption{{Name: "join"}}
	for want, o := range map[string]bot.CommandOptions{
		"browse stop sessions":                           {},
		"browse stop sessions watch watches":             {Watches: true},
		"browse stop sessions watch watches join budget": {Watches: true, Calls: calls, Budget: true},
		"browse stop sessions budget":                    {Budget: true, Runtimes: []string{"one"}},
		"browse stop sessions clip":                      {Clip: true},
	} {
		var got []string
		for _, s := range bot.SlashCommand(o).Options {
			got = append(got, s.Name)
		}
		check.Equal(t, "commands", strings.Join(got, " "), want)
	}
	has := func(o bot.CommandOptions) bool {
		return slices.ContainsFunc(bot.SlashCommand(o).Options[0].Options, func(x *discordgo.ApplicationCommandOption) bool {
			return x.Name == "runtime"
		})
	}
	if has(bot.CommandOptions{Runtimes: []string{"one"}}) || !has(bot.CommandOptions{Runtimes: []string{"one", "two"}}) {
		t.Error("the runtime is a choice where there is one only, or none where there are two")
	}
}

func TestWhatDiscordAddsMakesNoOtherCommand(t *testing.T) {
	ours := bot.SlashCommand(bot.CommandOptions{Watches: true, Runtimes: []string{"one", "two"}})
	text, err := json.Marshal(ours)
	check.Must(t, err)
	var theirs *discordgo.ApplicationCommand
	check.Must(t, json.Unmarshal(text, &theirs))
	theirs.ID, theirs.Version = "1", "2"
	list := func(c *discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
		return []*discordgo.ApplicationCommand{c, nil}
	}
	if !bot.SameCommands(list(ours), list(theirs)) {
		t.Error("the same command is another one")
	}
	theirs.Options[0].Options[0].Required = false
	if bot.SameCommands(list(ours), list(theirs)) || bot.SameCommands(list(ours), nil) {
		t.Error("another command is the same")
	}
}

// budgets makes the bot tell of budgets.
func (s *stage) budgets(err error) {
	s.bot.Budgets = budgets{[]bot.PersonBudget{{User: s.bob.ID, Spent: "5 of 5 USD"}, {Spent: "1 USD"}}, err}
}

// budgets are what people have spent, for who may see it.
type budgets struct {
	people []bot.PersonBudget
	err    error
}

func (b budgets) Budgets(_ context.Context, o sessions.Origin, people bool) (bot.Budgets, error) {
	v := bot.Budgets{Mine: o.User + " has 4 of 5 USD", Server: "9 of 10 USD", Today: "9 of 20 USD"}
	if people {
		v.People = b.people
	}
	return v, b.err
}

func (s *stage) askBudget(who discordtest.User, want string) discordtest.Interaction {
	s.t.Helper()
	it, err := s.SlashCommand(s.room, who, "clank budget", nil)
	check.Must(s.t, err)
	return s.answer(it, want)
}

func TestBudgetTellsThePersonAloneWhatIsLeft(t *testing.T) {
	s := newStage(t)
	s.budgets(nil)
	s.open()
	got := s.askBudget(s.ada, "You today: "+s.ada.ID+" has 4 of 5 USD\nThis server today: 9 of 10 USD\nEverybody today: "+
		"9 of 20 USD")
	if !got.Ephemeral || strings.Contains(got.Text(), "In this server") {
		t.Errorf("everybody can read it, or somebody who is no moderator sees what others have spent: %+v", got)
	}
}

func TestAClipIsShownToAllAndARefusalSaysWhy(t *testing.T) {
	s := newStage(t)
	shown := &pages{}
	s.bot.Pages = shown
	s.open()
	ask := func() discordtest.Interaction {
		it, err := s.SlashCommand(s.room, s.ada, "clank clip", nil)
		check.Must(t, err)
		return it
	}
	got, err := s.WaitInteraction(s.ctx(), ask(), func(i discordtest.Interaction) bool {
		return i.Original != nil && len(i.Original.Attachments) > 0
	})
	check.Must(t, err)
	a := got.Original.Attachments[0]
	if got.Ephemeral || a.Filename != "clip.webm" || string(a.Data) != s.ada.ID+"'s film" {
		t.Errorf("ephemeral %t, %s: %s", got.Ephemeral, a.Filename, a.Data)
	}
	shown.noClip = errors.New("that session was not recorded")
	s.answer(ask(), "That session was not recorded.")
}

func TestModeratorsSeeWhoHasSpentWhat(t *testing.T) {
	s := newStage(t)
	s.budgets(nil)
	s.open()
	got := s.askBudget(s.mod, "In this server today:")
	if !strings.HasSuffix(got.Text(), "- <@"+s.bob.ID+">: 5 of 5 USD\n- somebody: 1 USD") {
		t.Errorf("got %s", got.Text())
	}
}

func TestABudgetThatCannotBeReadIsSaid(t *testing.T) {
	s := newStage(t)
	s.budgets(errors.New("secret detail"))
	s.open()
	if got := s.askBudget(s.ada, "cannot be read just now"); strings.Contains(got.Text(), "secret") {
		t.Errorf("got %s", got.Text())
	}
}

func TestBudgetIsNotToldToThoseWhoAreNotServed(t *testing.T) {
	s := newStage(t)
	s.budgets(nil)
	s.noEntry()
	s.open()
	s.askBudget(s.ada, "This server is not on the list.")
}

// phone answers commands about calls with what it was asked.
type phone struct{ err error }

func (p phone) say(what string, o sessions.Origin) (string, error) {
	if o.Moderator {
		what += " (moderator)"
	}
	return what + " for " + o.UserName, p.err
}

func (p phone) Join(_ context.Context, o sessions.Origin) (string, error) { return p.say("join", o) }

func (p phone) Leave(_ context.Context, o sessions.Origin) (string, error) { return p.say("leave", o) }

func (p phone) Privacy(_ context.Context, o sessions.Origin, choice string) (string, error) {
	return p.say("privacy "+choice, o)
}

func (p phone) Share(_ context.Context, o sessions.Origin, session string) (string, error) {
	return p.say("share "+session, o)
}

func (p phone) Unshare(_ context.Context, o sessions.Origin) (string, error) {
	return p.say("unshare", o)
}

func (p phone) Link(_ context.Context, o sessions.Origin, in bot.LinkRequest) (string, error) {
	return p.say(fmt.Sprintf("link %+v", in), o)
}

func (p phone) Unlink(_ context.Context, o sessions.Origin, session string) (string, error) {
	return p.say("unlink "+session, o)
}

func TestCommandsAboutCallsAreAnswered(t *testing.T) {
	s := newStage(t)
	s.bot.Calls, s.bot.Links = phone{}, phone{}
	s.open()
	for _, c := range []struct {
		who     discordtest.User
		command string
		args    discordtest.Args
		want    string
		private bool
	}{
		{s.ada, "join", nil, "join for ada", false},
		{s.mod, "leave", nil, "leave (moderator) for mod", false},
		{s.ada, "privacy", discordtest.Args{"choice": "out"}, "privacy out for ada", true},
		{s.ada, "share", discordtest.Args{"session": "b3"}, "share b3 for ada", true},
		{s.ada, "unshare", nil, "unshare for ada", false},
		{
			s.ada, "link",
			discordtest.Args{"session": "b3", "control": true, "minutes": 5, "person": s.bob},
			"link {Session:b3 Control:true Minutes:5 User:" + s.bob.ID + "} for ada", true,
		},
		{s.ada, "unlink", discordtest.Args{"session": "b3"}, "unlink b3 for ada", true},
	} {
		it := s.command(c.who, c.command, c.args)
		check.Equal(t, c.command+": for the person alone", s.answer(it, c.want).Ephemeral, c.private)
	}
}

func TestAButtonGivesALinkToThePageThatIsWorked(t *testing.T) {
	s := newStage(t)
	s.bot.Calls, s.bot.Links = phone{}, phone{}
	s.open()
	it, k := s.browse(s.ada, discordtest.Args{"task": "lamps", "session": "s1"}), s.next()
	k.step("look", nil)
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return i.Original != nil && len(i.Original.Buttons()) == 2
	})
	check.Must(t, err)
	live := got.Original.Buttons()[1]
	pressed, err := s.PressButton(*got.Original, s.bob, live.CustomID)
	check.Must(t, err)
	if got := s.answer(pressed, "link {Session:s1 "); live.Label != "Live" || !got.Ephemeral {
		t.Errorf("%+v gives %+v, want a link for the person alone", live, got)
	}
	k.done("There.")
}

func TestWhyACallCannotBeJoinedIsSaid(t *testing.T) {
	s := newStage(t)
	s.bot.Calls = phone{err: errors.New("you are in no voice channel: go into one first")}
	s.open()
	it := s.command(s.ada, "join", nil)
	s.answer(it, "go into one first")
}

func TestWithoutCallsThereAreNoCommandsAboutThem(t *testing.T) {
	s := openStage(t)
	check.Fails(t, check.Err(s.SlashCommand(s.room, s.ada, "clank join", nil)),
		nil, "no bot here has registered that command")
}

func TestPostWritesTextAndPictures(t *testing.T) {
	s := openStage(t)
	picture := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	check.Must(t, s.bot.Post(t.Context(), s.room.ID, "**Ferries** leave at 9", []llm.Image{picture}))
	m, err := s.WaitMessage(s.ctx(), s.room, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "**Ferries**")
	})
	if err != nil || len(m.Attachments) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	check.Fails(t, s.bot.Post(t.Context(), "1", "lost", nil), nil, "write into channel 1: ", "Unknown Channel")
}

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
	x.ID, x.What, x.Every, x.Until, x.Seen = "w1", "it is *cheap*", time.Hour, time.Now().Add(time.Hour),
		watches.Seen{Value: "**18 €**", Met: true}
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
	it := s.command(s.ada, "watch", discordtest.Args{
		"url": "shop.test", "below": 19.5, "near": "Price", "every": 30,
		"days": 2, "private": true,
	})
	got := s.answer(it, "`/clank watches end:w1`")
	if !got.Ephemeral || !strings.Contains(got.Text(), `\*\*18 €`) || !strings.Contains(got.Text(), `it is \*cheap\*`) ||
		!strings.Contains(got.Text(), "so already") {
		t.Errorf("answer (private: %v): %s", got.Ephemeral, got.Text())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.asked
	if a.URL != "shop.test" || a.Condition != (watches.Condition{Kind: watches.KindBelow, Number: 19.5, Near: "Price"}) ||
		a.Every != 30*time.Minute ||
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
	s.host.disabled = func(sessions.Origin) string { return "not here" }
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
	if got := s.answer(s.command(s.ada, "watches", nil), "`w1`"); !got.Ephemeral ||
		!strings.Contains(got.Text(), "last time: away") {
		t.Errorf("list: %s", got.Text())
	}
	w.list = nil
	for n := range 25 {
		w.list = append(w.list, watches.Watch{
			ID: fmt.Sprintf("w%d", n), URL: "https://shop.test/" + strings.Repeat("x", 100),
			What: "cheaper",
		})
	}
	s.answer(s.command(s.ada, "watches", nil), "`w0`")
	check.Must(t, check.Err(s.WaitInteraction(s.ctx(), s.command(s.ada, "watches", nil),
		func(i discordtest.Interaction) bool {
			n := len(i.Followups)
			return n > 0 && i.Followups[n-1].ViewerID == s.ada.ID && strings.Contains(i.Followups[n-1].Content, "`w24`")
		})))
	if o := w.query.Owner; o == nil || o.User != s.ada.ID || !o.Discord {
		t.Errorf("asked for the watches of %+v", o)
	}
	staff, other := s.CreateChannel(s.guild, "staff"), s.CreateChannel(s.guild, "other")
	s.Overwrite(staff, s.mod, discordtest.Role{}, 0, discordtest.ManageMessages)
	s.answer(s.command(s.mod, "watches", discordtest.Args{"end": "w1"}), "is not watched any more")
	if w.by.ID != s.mod.ID || !w.from.Moderates(s.guild.ID, s.room.ID) || !w.from.Moderates(s.guild.ID, other.ID) ||
		w.from.Moderates(s.guild.ID, staff.ID) {
		t.Errorf("ended by %+v from %+v", w.by, w.from)
	}
	w.err = watches.ErrForbidden
	s.answer(s.command(s.bob, "watches", discordtest.Args{"end": "w1"}), "This is somebody else's watch.")
}

func TestTheOwnerOfAWatchIsToldWithAMention(t *testing.T) {
	s, _ := watchStage(t)
	o := sessions.Origin{Kind: sessions.FromDiscord, Guild: s.guild.ID, Channel: s.room.ID, User: s.ada.ID}
	n := watches.Notice{
		Kind: watches.NoticeMet, Text: "The page has changed.",
		Diff: []string{"- old <@" + s.bob.ID + ">", "+ [new](https://evil.test)"},
	}
	w := watches.Watch{ID: "w1", Origin: o, URL: "https://shop.test/a", What: "it changes", State: watches.StateActive}
	check.Must(t, s.bot.NotifyWatch(t.Context(), w, n))
	m := s.message(s.room, "you wanted to know when it changes.")
	for _, want := range []string{
		"<@" + s.ada.ID + ">", "➖ old", `➕ \[new\]`, "<https://shop.test/a>",
		"`/clank watches end:w1`",
	} {
		check.Contains(t, m.Content, want)
	}
	if len(m.Mentions) != 1 || m.Mentions[0].ID != s.ada.ID {
		t.Errorf("mentioned: %+v", m.Mentions)
	}
	w.Origin.Private = true
	check.Must(t, s.bot.NotifyWatch(t.Context(), w,
		watches.Notice{Kind: watches.NoticeEnded, Text: "The time of this watch is over."}))
	s.unseen(s.room, "is over")
}

func TestWithoutWatchesThereAreNoCommandsForThem(t *testing.T) {
	s := openStage(t)
	check.Fails(t, check.Err(s.SlashCommand(s.room, s.ada, "clank watch", discordtest.Args{"url": "x"})),
		nil, "no bot here has registered that command")
}

func TestMembershipsAreThoseOfDiscord(t *testing.T) {
	s, _ := watchStage(t)
	eve := s.CreateUser("eve")
	s.CreateGuild("elsewhere", eve) // where the bot is not
	s.AddMember(s.guild, eve, s.CreateRole(s.guild, "staff", discordtest.ManageMessages))
	got := s.bot.Memberships(t.Context(), eve.ID)
	if len(got) != 1 || got[0].Guild != s.guild.ID || got[0].Manages || len(got[0].Roles) != 1 ||
		!slices.Contains(got[0].Channels, bot.MemberChannel{ID: s.room.ID, Moderates: true}) {
		t.Errorf("eve is %+v", got)
	}
	if owner := s.bot.Memberships(t.Context(), s.ada.ID); len(owner) != 1 || len(owner[0].Channels) == 0 {
		t.Errorf("ada is %+v", owner)
	}
	if got := s.bot.Memberships(t.Context(), s.CreateUser("bob").ID); len(got) != 0 {
		t.Errorf("who is on no server of the bot is %+v", got)
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
	check.Fails(t, check.Err(s.bot.RefreshOrigin(t.Context(), asked)), bot.ErrLeftGuild)
	if got, err := s.bot.RefreshOrigin(t.Context(),
		sessions.Origin{Kind: sessions.FromDiscord, User: eve.ID}); err != nil || got.User != eve.ID {
		t.Errorf("in a direct message: %+v, %v", got, err)
	}
}
