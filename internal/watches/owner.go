package watches

import (
	"cmp"
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
	return fmt.Errorf("end the watch %s: %w; %s, or somebody who manages messages here, can end it", w.ID, ErrForbidden, cmp.Or(w.Origin.UserName, "its owner"))
}
