package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/bot"
	"clank/internal/test/discordtest"
	"clank/sessions"
)

// budgets makes the bot tell of budgets.
func (s *stage) budgets(err error) {
	s.bot.Budgets = func(_ context.Context, o sessions.Origin, people bool) (bot.Budgets, error) {
		v := bot.Budgets{Mine: o.User + " has 4 of 5 USD", Server: "9 of 10 USD", Today: "9 of 20 USD"}
		if people {
			v.People = []bot.PersonBudget{{User: s.bob.ID, Spent: "5 of 5 USD"}, {Spent: "1 USD"}}
		}
		return v, err
	}
}

func (s *stage) askBudget(who discordtest.User, want string) discordtest.Interaction {
	s.t.Helper()
	it, err := s.SlashCommand(s.room, who, "clank budget", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.answer(it, want)
}

func TestBudgetTellsThePersonAloneWhatIsLeft(t *testing.T) {
	s := newStage(t)
	s.budgets(nil)
	s.open()
	got := s.askBudget(s.ada, "You today: "+s.ada.ID+" has 4 of 5 USD\nThis server today: 9 of 10 USD\nEverybody today: 9 of 20 USD")
	if !got.Ephemeral || strings.Contains(got.Text(), "In this server") {
		t.Errorf("everybody can read it, or somebody who is no moderator sees what others have spent: %+v", got)
	}
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
