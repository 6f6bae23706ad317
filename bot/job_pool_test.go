package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/bot"
	"clank/internal/test/check"
)

func TestNoMoreStartsThanIsAllowedAndErrandsStartBesideIt(t *testing.T) {
	var j bot.JobPool
	j.Open(1)
	hold, held := make(chan struct{}), make(chan struct{})
	if !j.Start(false, func() { close(held); <-hold }) {
		t.Fatal("the first did not start")
	}
	<-held
	if j.Start(false, func() {}) {
		t.Error("a second one started")
	}
	done := make(chan struct{})
	if !j.Start(true, func() { close(done) }) {
		t.Error("an errand did not start")
	}
	<-done
	close(hold)
	j.Close()
	check.Must(t, j.Wait(t.Context()))
	if j.Start(true, func() {}) || j.Start(false, func() {}) {
		t.Error("something started after the end")
	}
}

func TestWaitingEndsWithItsContextAndSaysWhatIsLeft(t *testing.T) {
	var j bot.JobPool
	j.Open(1)
	hold := make(chan struct{})
	j.Start(false, func() { <-hold })
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("no more time")
	stop(why)
	if err := j.Wait(ctx); !errors.Is(err, why) || !strings.Contains(err.Error(), "1 pieces of work") {
		t.Errorf("got %v", err)
	}
	close(hold)
	check.Must(t, j.Wait(t.Context()))
}
