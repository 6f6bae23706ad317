package discordtest_test

import (
	"testing"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

func TestDroppedSocketResumesAndReplaysWhatWasMissed(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	heard, resumed := events[*discordgo.MessageCreate](d), events[*discordgo.Resumed](d)
	open(t, w, d)
	settled(t, w)
	if err := w.DropSockets(w.bot); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := w.SendMessage(w.room, w.ada, text); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]bool{next(t, heard).Content: true, next(t, heard).Content: true} // discordgo keeps no order
	if !got["one"] || !got["two"] {
		t.Errorf("got messages %v, want one and two", got)
	}
	next(t, resumed)
	if got, want := len(w.Received(2)), 1; got != want {
		t.Errorf("got %d identifies, want %d", got, want)
	}
}

func TestInvalidSessionIsIdentifiedAgain(t *testing.T) {
	for name, resumable := range map[string]bool{"resumable": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{})
			d := w.session(t)
			open(t, w, d)
			settled(t, w)
			ready, heard := events[*discordgo.Ready](d), events[*discordgo.MessageCreate](d)
			if err := w.InvalidateSession(w.bot, resumable); err != nil {
				t.Fatal(err)
			}
			next(t, ready)
			if _, err := w.SendMessage(w.room, w.ada, "still there?"); err != nil {
				t.Fatal(err)
			}
			next(t, heard)
		})
	}
}
