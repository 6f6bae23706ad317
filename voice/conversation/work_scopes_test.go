package conversation_test

import (
	"context"
	"strconv"
	"testing"

	"clank/cancel"
	"clank/voice/conversation"
)

var ada = cancel.Actor{ID: "ada", Name: "Ada"}

// begin has something done for a person in a channel.
func begin(t *testing.T, s *cancel.Scopes, channel, person string) context.Context {
	t.Helper()
	ctx, h := s.Begin(t.Context(), cancel.Scope{Guild: "g", Channel: channel}, cancel.Work{ID: channel + "/" + person, Owner: person})
	t.Cleanup(h.End)
	return ctx
}

func TestACallAnswersForItsChannelsAndForItsPeopleWhereItWasAskedFor(t *testing.T) {
	work := &cancel.Scopes{}
	here, before := begin(t, work, "here", "bob"), begin(t, work, "before", "bob")
	asked, gone, own := begin(t, work, "asked", "bob"), begin(t, work, "asked", "cyd"), begin(t, work, "asked", "ada")
	far := begin(t, work, "elsewhere", "ada")
	r := conversation.NewWorkScopes(work, "g", "before", "asked")
	r.MoveTo("here")
	if got, want := r.Current(), (cancel.Scope{Guild: "g", Channel: "here"}); got != want {
		t.Errorf("the call is in %v, want %v", got, want)
	}
	inCall := func(person string) bool { return person != "cyd" }
	if n := r.Stop(ada, false, inCall); n != 1 || own.Err() == nil || here.Err() != nil {
		t.Errorf("%d stopped for one who may stop her own", n)
	}
	if n := r.Stop(ada, true, inCall); n != 4 || here.Err() == nil || before.Err() == nil || asked.Err() == nil {
		t.Errorf("%d stopped for one who may stop all, want what runs here, before, where it was asked for, and what is being stopped", n)
	}
	if gone.Err() != nil || far.Err() != nil {
		t.Error("stopped what is not the call's")
	}
}

func TestWhatWorksIsSeenInAllChannels(t *testing.T) {
	work := &cancel.Scopes{}
	begin(t, work, "c0", "bob")
	begin(t, work, "asked", "cyd")
	r := conversation.NewWorkScopes(work, "g", "c0", "asked")
	for n := range 7 {
		r.MoveTo("c" + strconv.Itoa(n))
	}
	for person, want := range map[string]bool{"bob": true, "cyd": true, "ada": false} {
		if got := r.HasWork(person); got != want {
			t.Errorf("something is done for %s: %v", person, got)
		}
	}
	for n := range 20 {
		r.MoveTo("d" + strconv.Itoa(n))
	}
	if r.HasWork("bob") {
		t.Error("a channel that was left long ago is answered for")
	}
}
