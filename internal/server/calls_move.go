package server

// handleCallMoved takes what a call shows along to the channel into which somebody has moved it.
func (x *CallService) handleCallMoved(guild, channel string) {
	x.background.Go(func() {
		if err := x.shares.Move(x.callsContext, callRefOf(guild, channel)); err != nil && x.callsContext.Err() == nil {
			x.Logger.Warn("share did not follow its call", "guild", guild, "channel", channel, "error", err)
		}
	})
}
