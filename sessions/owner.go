package sessions

// MayUse reports whether somebody who asks from o may go on with the session:
// its owner may. Whoever asks from the dashboard or a terminal without a name is
// the operator of the machine, who owns every session that was started there.
func (s Session) MayUse(o Origin) bool {
	if o.Kind == FromDiscord || s.Origin.Kind == FromDiscord {
		return o.Kind == s.Origin.Kind && o.User != "" && o.User == s.Origin.User
	}
	return o.User == "" || o.User == s.Origin.User
}

// owner returns what people call the session's owner.
func (s Session) owner() string { return s.Origin.requesterName() }

// requesterName returns what people call the person who asked from o.
func (o Origin) requesterName() string {
	switch {
	case o.UserName != "":
		return o.UserName
	case o.User != "":
		return "user " + o.User
	}
	return "the operator"
}
