package phone

// moved takes what a call shows along to the channel into which somebody has moved it.
func (x *Exchange) moved(guild, channel string) {
	x.work.Go(func() {
		if err := x.shares.Move(x.life, callOn(guild, channel)); err != nil && x.life.Err() == nil {
			x.Logger.Warn("share did not follow its call", "guild", guild, "channel", channel, "error", err)
		}
	})
}
