package watches

import (
	"crypto/rand"
	"fmt"

	"clank/cancel"
	"clank/sessions"
)

// OwnerOf returns who asks from o. The dashboard and terminals belong to the operator.
func OwnerOf(o sessions.Origin) Owner {
	return Owner{Discord: o.Kind == sessions.FromDiscord, User: o.User}
}

// MayEnd returns nil if by may end the watch: its owner, anyone who manages messages where it reports
// (by.Moderator, which is for the guild of w), and the operator from the dashboard or a terminal. Otherwise it
// returns [ErrForbidden].
func (w Watch) MayEnd(from sessions.Origin, by cancel.Actor) error {
	operator := from.Kind != sessions.FromDiscord
	owner := OwnerOf(from) == OwnerOf(w.Origin) && from.User != ""
	moderator := by.Moderator && from.Guild != "" && from.Guild == w.Origin.Guild
	if operator || owner || moderator {
		return nil
	}
	return fmt.Errorf("end the watch %s: %w; %s, or somebody who manages messages here, can end it", w.ID, ErrForbidden, w.owner())
}

func (w Watch) owner() string {
	if w.Origin.UserName != "" {
		return w.Origin.UserName
	}
	return "its owner"
}

// idLetters look unlike each other, and make no words.
const idLetters = "bcdfghjkmnpqrstvwxz23456789"

func newID() string {
	id := []byte("w")
	for len(id) < 8 {
		var b [1]byte
		rand.Read(b[:]) // never fails
		if int(b[0]) < 256/len(idLetters)*len(idLetters) {
			id = append(id, idLetters[int(b[0])%len(idLetters)])
		}
	}
	return string(id)
}
