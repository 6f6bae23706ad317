package discord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/voice"
	"clank/voice/discord/media"
)

const (
	maxRejoins  = 3                // in a row
	lasting     = 30 * time.Second // after which a connection counts as a good one
	resendPause = 500 * time.Millisecond
	moveFactor  = 3 // times the patience: how long Discord may take to find another server
)

var (
	errReset = errors.New("the connection to Discord began anew, which takes clank out of all calls")
	errNews  = errors.New("the main gateway has told something newer")
)

// live steers the call until it ends.
func (l *Line) live(ctx context.Context, at seat) {
	err := l.follow(ctx, at)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	l.cancel(errLeft)
	l.drop(ctx, "")
	if !errors.Is(err, ErrRemoved) {
		l.joiner.vacate(ctx, l.rooms, l.guild)
	}
	l.joiner.mu.Lock()
	if l.rooms.line == l {
		l.rooms.line = nil
	}
	l.joiner.mu.Unlock()
	if !errors.Is(err, errLeft) {
		l.err = err
		l.joiner.logger().Info("call ended", "guild", l.guild, "error", err)
	}
	close(l.done)
	l.queue.end()
}

// follow goes where the main gateway sends us, and joins anew where that is the remedy. It returns why the call has ended.
func (l *Line) follow(ctx context.Context, at seat) error {
	rejoins, began := 0, time.Now()
	for {
		next, err := l.watch(ctx, at)
		if time.Since(began) > lasting {
			rejoins = 0
		}
		for {
			if err != nil && remedied(err) && rejoins < maxRejoins && ctx.Err() == nil {
				rejoins++
				next, err = l.rejoin(ctx, err)
			}
			if err != nil {
				return err
			}
			l.drop(ctx, "Discord has moved the call to another server")
			l.move(next)
			if err = l.connect(ctx, next); err == nil || errors.Is(err, errNews) {
				break
			}
			if !remedied(err) || rejoins >= maxRejoins {
				return err
			}
		}
		at, began = next, time.Now()
	}
}

// remedied reports whether joining anew may help.
func remedied(err error) bool {
	return errors.Is(err, errReset) || media.React(err) == media.Rejoin
}

// watch waits until the call has to go elsewhere, and returns where. An error is the end of the connection.
func (l *Line) watch(ctx context.Context, at seat) (seat, error) {
	for {
		var over <-chan struct{}
		conn := l.connection()
		if conn != nil {
			over = conn.Done()
		}
		l.joiner.mu.Lock()
		now, changed := l.rooms.seat, l.rooms.changed
		l.joiner.mu.Unlock()
		if done, err := gone(at, now); done {
			return now, err
		}
		if now.servers > at.servers || now.channel != at.channel {
			return l.resettle(ctx, at)
		}
		l.bar(now.barred)
		select {
		case <-changed:
		case <-over:
			if err := conn.Err(); media.React(err) != media.Wait {
				return now, err
			}
			return l.afterDisconnect(ctx, at)
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

// gone reports whether the seat is lost.
func gone(at, now seat) (bool, error) {
	switch {
	case now.resets > at.resets:
		return true, errReset
	case now.states > at.states && now.channel == "":
		return true, ErrRemoved
	}
	return false, nil
}

// afterDisconnect waits for what the main gateway says of a disconnect: moved, or removed.
func (l *Line) afterDisconnect(ctx context.Context, at seat) (seat, error) {
	l.setUp(false, "Discord has taken clank out of the voice channel, or is moving it")
	wait, cancel := context.WithTimeoutCause(ctx, l.joiner.patience(), ErrSilent)
	defer cancel()
	var s seat
	err := l.joiner.await(wait, l.rooms, func(now seat) (bool, error) {
		s = now
		done, err := gone(at, now)
		return done || now.servers > at.servers || now.channel != at.channel, err
	})
	if err != nil {
		return s, err
	}
	return l.resettle(ctx, at)
}

// resettle waits until the main gateway has named the server of the channel that we are in now.
func (l *Line) resettle(ctx context.Context, at seat) (seat, error) {
	patience := l.joiner.patience()
	if now := l.joiner.seat(l.rooms); now.servers > at.servers && now.endpoint == "" {
		patience *= moveFactor // it is looking for one
		l.drop(ctx, "Discord is looking for another server for the call")
	}
	wait, cancel := context.WithTimeoutCause(ctx, patience, ErrNoServer)
	defer cancel()
	var s seat
	err := l.joiner.await(wait, l.rooms, func(now seat) (bool, error) {
		s = now
		if done, err := gone(at, now); done {
			return true, err
		}
		return now.servers > at.servers && now.endpoint != "", nil
	})
	if errors.Is(err, ErrNoServer) && s.servers == at.servers {
		return s, errReset // moved, and nobody says where: asking again gives an answer
	}
	return s, err
}

// rejoin asks for a place in our channel again, since what we had is spent.
func (l *Line) rejoin(ctx context.Context, why error) (seat, error) {
	l.drop(ctx, why.Error())
	channel := l.Channel()
	wait, cancel := context.WithTimeoutCause(ctx, moveFactor*l.joiner.patience(), fmt.Errorf("join the call again: %w", why))
	defer cancel()
	for {
		s, err := l.joiner.enter(wait, l.rooms, l.guild, channel)
		if err == nil || errors.Is(err, ErrRemoved) || wait.Err() != nil {
			return s, err
		}
		if errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrNoServer) {
			l.joiner.vacate(wait, l.rooms, l.guild) // where Discord thinks that nothing has changed, it says nothing
		}
		t := time.NewTimer(resendPause)
		select {
		case <-t.C:
		case <-wait.Done():
			t.Stop()
			return s, context.Cause(wait)
		}
	}
}

// move notes the channel we are in, and tells if it is another one.
func (l *Line) move(to seat) {
	l.mu.Lock()
	moved := l.channel != to.channel
	l.channel, l.session = to.channel, to.session
	if moved {
		l.queue.push(voice.Event{Kind: voice.Moved, Text: to.channel})
	}
	l.mu.Unlock()
	if moved {
		l.compare()
		if tell := l.joiner.Moved; tell != nil {
			tell(l.guild, to.channel)
		}
	}
}

// connect opens a voice connection with what the main gateway gave. News from there end the attempt with errNews.
func (l *Line) connect(ctx context.Context, to seat) error {
	group, err := strconv.ParseUint(to.channel, 10, 64)
	if err != nil {
		return fmt.Errorf("the id %q of the voice channel is no number", to.channel)
	}
	j := l.joiner
	conn := &media.Conn{
		Target: media.Target{
			Endpoint: to.endpoint, ServerID: l.guild, UserID: j.id(), SessionID: to.session, Token: to.token, GroupID: group,
		},
		Key: j.Key, Handle: l.handle, Transport: j.Transport, HTTPClient: j.HTTPClient, Logger: j.logger().With("guild", l.guild),
		MinWait: j.MinWait, MaxOutage: j.MaxOutage,
	}
	l.mu.Lock()
	l.conn, l.session = conn, to.session
	l.mu.Unlock()
	limit, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	attempt, news := context.WithCancelCause(limit)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		err := j.await(attempt, l.rooms, func(now seat) (bool, error) {
			lost, _ := gone(to, now)
			return lost || now.servers > to.servers || now.channel != to.channel, nil
		})
		if err == nil {
			news(errNews)
		}
	}()
	err = conn.Open(attempt)
	told := errors.Is(context.Cause(attempt), errNews)
	news(nil)
	<-heard
	if err != nil {
		l.mu.Lock()
		l.conn = nil
		l.mu.Unlock()
		if told {
			return errNews
		}
	}
	return err
}

// drop closes the voice connection, and tells why unless that is empty.
func (l *Line) drop(ctx context.Context, why string) {
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
