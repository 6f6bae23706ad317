package sessions

// MayUse reports whether somebody who asks from o may go on with the session:
// its owner may. Whoever asks from the dashboard or a terminal is the operator
// of the machine, who owns every session that was started from either.
func (s Session) MayUse(o Origin) bool {
	if o.Kind == FromDiscord || s.Origin.Kind == FromDiscord {
		return o.Kind == s.Origin.Kind && o.User != "" && o.User == s.Origin.User
	}
	return o.User == "" || o.User == s.Origin.User
}
