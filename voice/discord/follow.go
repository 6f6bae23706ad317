package discord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/cancel"
	"clank/voice"
	discordconn "clank/voice/discord/conn"
)

const (
	maxRejoins  = 3                // in a row
	stableAfter = 30 * time.Second // after which a connection counts as a good one
	resendPause = 500 * time.Millisecond
	moveFactor  = 3 // times the patience: how long Discord may need to find another server
)

var (
	errReset      = errors.New("the connection to Discord started again, which removes clank from all calls")
	errNewerState = errors.New("the main gateway has told something newer")
)

func (l *Line) run(ctx context.Context, at voiceSession) {
	err := l.followMoves(ctx, at)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	l.cancel(errLeft)
	l.dropConnection(ctx, "")
	if !errors.Is(err, ErrRemoved) {
		l.joiner.leaveChannel(ctx, l.guildState, l.guild)
	}
	l.joiner.mu.Lock()
	if l.guildState.line == l {
		l.guildState.line = nil
	}
	l.joiner.mu.Unlock()
	if !errors.Is(err, errLeft) {
		l.err = err
		l.joiner.logger().Info("call ended", "guild", l.guild, "error", err)
	}
	close(l.done)
	l.queue.End()
}

// followMoves reconnects where the main gateway sends us, and joins again where that helps. It returns why the call
// ended.
func (l *Line) followMoves(ctx context.Context, at voiceSession) error {
	rejoins, began := 0, time.Now()
	for {
		next, err := l.waitForChange(ctx, at)
		if time.Since(began) > stableAfter {
			rejoins = 0
		}
		for {
			if err != nil && needsRejoin(err) && rejoins < maxRejoins && ctx.Err() == nil {
				rejoins++
				next, err = l.rejoin(ctx, err)
			}
			if err != nil {
				return err
			}
			l.dropConnection(ctx, "Discord has moved the call to another server")
			l.setChannel(next)
			if err = l.connect(ctx, next); err == nil || errors.Is(err, errNewerState) {
				break
			}
			if !needsRejoin(err) || rejoins >= maxRejoins {
				return err
			}
		}
		at, began = next, time.Now()
	}
}

// needsRejoin reports whether joining again may help.
func needsRejoin(err error) bool {
	return errors.Is(err, errReset) || discordconn.ReactionTo(err) == discordconn.Rejoin
}

// waitForChange waits until the call has to go elsewhere, and returns where. An error is the end of the connection.
func (l *Line) waitForChange(ctx context.Context, at voiceSession) (voiceSession, error) {
	for {
		var over <-chan struct{}
		conn := l.connection()
		if conn != nil {
			over = conn.Done()
		}
		l.joiner.mu.Lock()
		now, changed := l.guildState.session, l.guildState.changed
		l.joiner.mu.Unlock()
		if done, err := sessionLost(at, now); done {
			return now, err
		}
		if now.serverUpdates > at.serverUpdates || now.channel != at.channel {
			return l.waitForServer(ctx, at)
		}
		l.setMutedReason(now.mutedReason)
		select {
		case <-changed:
		case <-over:
			if err := conn.Err(); discordconn.ReactionTo(err) != discordconn.WaitForGateway {
				return now, err
			}
			return l.afterDisconnect(ctx, at)
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

// sessionLost reports whether our place in the channel is lost.
func sessionLost(at, now voiceSession) (bool, error) {
	switch {
	case now.resets > at.resets:
		return true, errReset
	case now.stateUpdates > at.stateUpdates && now.channel == "":
		return true, ErrRemoved
	}
	return false, nil
}

// afterDisconnect waits for the main gateway to explain a disconnect: moved or removed.
func (l *Line) afterDisconnect(ctx context.Context, at voiceSession) (voiceSession, error) {
	l.setUp(false, "Discord has taken clank out of the voice channel, or is moving it")
	wait, cancel := context.WithTimeoutCause(ctx, l.joiner.answerTimeout(), errNoDestination)
	defer cancel()
	var s voiceSession
	err := l.joiner.waitFor(wait, l.guildState, func(now voiceSession) (bool, error) {
		s = now
		done, err := sessionLost(at, now)
		return done || now.serverUpdates > at.serverUpdates || now.channel != at.channel, err
	})
	if err != nil {
		return s, err
	}
	return l.waitForServer(ctx, at)
}

// waitForServer waits until the main gateway has named the server of the channel that we are in now.
func (l *Line) waitForServer(ctx context.Context, at voiceSession) (voiceSession, error) {
	patience := l.joiner.answerTimeout()
	if now := l.joiner.currentSession(l.guildState); now.serverUpdates > at.serverUpdates && now.endpoint == "" {
		patience *= moveFactor // it is looking for one
		l.dropConnection(ctx, "Discord is looking for another server for the call")
	}
	wait, cancel := context.WithTimeoutCause(ctx, patience, ErrNoServer)
	defer cancel()
	var s voiceSession
	err := l.joiner.waitFor(wait, l.guildState, func(now voiceSession) (bool, error) {
		s = now
		if done, err := sessionLost(at, now); done {
			return true, err
		}
		return now.serverUpdates > at.serverUpdates && now.endpoint != "", nil
	})
	if errors.Is(err, ErrNoServer) && s.serverUpdates == at.serverUpdates {
		return s, errReset // moved to an unknown channel: asking again gives an answer
	}
	return s, err
}

// rejoin requests our place in the channel again because the previous credentials are spent.
func (l *Line) rejoin(ctx context.Context, why error) (voiceSession, error) {
	l.dropConnection(ctx, why.Error())
	channel := l.Channel()
	wait, done := context.WithTimeoutCause(ctx, moveFactor*l.joiner.answerTimeout(),
		fmt.Errorf("join the call again: %w", why))
	defer done()
	for {
		s, err := l.joiner.requestJoin(wait, l.guildState, l.guild, channel)
		if err == nil || errors.Is(err, ErrRemoved) || wait.Err() != nil {
			return s, err
		}
		if errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrNoServer) {
			l.joiner.leaveChannel(wait, l.guildState, l.guild) // Discord does not answer if it thinks that nothing has changed
		}
		if err := cancel.Sleep(wait, resendPause); err != nil {
			return s, err
		}
	}
}

// setChannel stores the channel that we are in, and emits an event if it has changed.
func (l *Line) setChannel(to voiceSession) {
	l.mu.Lock()
	moved := l.channel != to.channel
	l.channel, l.session = to.channel, to.sessionID
	if moved {
		l.queue.Push(voice.Event{Kind: voice.Moved, Text: to.channel})
	}
	l.mu.Unlock()
	if moved {
		l.syncPeople()
		if tell := l.joiner.OnMoved; tell != nil {
			tell(l.guild, to.channel)
		}
	}
}

// connect opens a voice connection with what the main gateway gave. News from there end the attempt with errNewerState.
func (l *Line) connect(ctx context.Context, to voiceSession) error {
	group, err := strconv.ParseUint(to.channel, 10, 64)
	if err != nil {
		return fmt.Errorf("the id %q of the voice channel is no number", to.channel)
	}
	j := l.joiner
	conn := &discordconn.Conn{
		Target: discordconn.Target{
			Endpoint: to.endpoint, ServerID: l.guild, UserID: j.ownID(), SessionID: to.sessionID, Token: to.token,
			GroupID: group,
		},
		Key: j.Key, Handle: l.handle, Transport: j.Transport, HTTPClient: j.HTTPClient,
		Logger:  j.logger().With("guild", l.guild),
		MinWait: j.MinWait, MaxOutage: j.MaxOutage, RequireEncryption: j.RequireEncryption != nil && j.RequireEncryption(),
	}
	l.mu.Lock()
	l.conn, l.session = conn, to.sessionID
	l.mu.Unlock()
	limit, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	attempt, news := context.WithCancelCause(limit)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		err := j.waitFor(attempt, l.guildState, func(now voiceSession) (bool, error) {
			lost, _ := sessionLost(to, now)
			return lost || now.serverUpdates > to.serverUpdates || now.channel != to.channel, nil
		})
		if err == nil {
			news(errNewerState)
		}
	}()
	err = conn.Open(attempt)
	told := errors.Is(context.Cause(attempt), errNewerState)
	news(nil)
	<-heard
	if err != nil {
		l.mu.Lock()
		l.conn = nil
		l.mu.Unlock()
		if told {
			return errNewerState
		}
	}
	return err
}

// dropConnection closes the voice connection and emits the reason, unless it is empty.
func (l *Line) dropConnection(ctx context.Context, why string) {
	l.mu.Lock()
	conn := l.conn
	l.conn = nil
	l.mu.Unlock()
	if conn != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		defer cancel()
		if err := conn.Close(ctx); err != nil {
			l.joiner.logger().Warn("voice connection did not end in time", "guild", l.guild, "error", err)
		}
	}
	if why != "" {
		l.setUp(false, why)
	}
}
