package web

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"clank/internal/test/check"
)

func TestLargePagesAreParsedAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := byteLimiter{free: maxParsedBytes}
		var all sync.WaitGroup
		hold := make(chan struct{})
		var mu sync.Mutex
		inside, most := 0, 0
		for range 20 {
			all.Go(func() {
				leave, err := r.enter(t.Context(), maxPageBytes)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				<-hold
				mu.Lock()
				inside--
				mu.Unlock()
				leave()
			})
		}
		synctest.Wait()
		gone := errors.New("nobody waits")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		check.Fails(t, check.Err(r.enter(ctx, 1)), gone)
		close(hold)
		all.Wait()
		if most != 2 || r.free != maxParsedBytes {
			t.Errorf("%d at a time, %d bytes free in the end", most, r.free)
		}
	})
}

func TestAPageWaitsForRoom(t *testing.T) {
	leave, err := parsing.enter(t.Context(), maxParsedBytes)
	check.Must(t, err)
	defer leave()
	gone := errors.New("nobody waits")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	page := fetchedPage{
		url: &url.URL{Scheme: "https", Host: "a.test"}, mediaType: "text/html",
		body: []byte("<p>" + strings.Repeat("words ", 100)),
	}
	check.Fails(t, page.readHTML(ctx, &Page{}, false), gone)
}
