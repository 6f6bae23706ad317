package discordtest_test

import (
	"testing"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

// These tests also write down what discordgo v0.29.0 makes of such events, since
// its consumers must guard against it.
func TestMalformedEventsReachTheHandlers(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	messages, interactions, raw := events[*discordgo.MessageCreate](d), events[*discordgo.InteractionCreate](d), events[*discordgo.Event](d)
	open(t, w, d)
	send := func(event, data string) {
		t.Helper()
		if err := w.Dispatch(w.bot, event, data); err != nil {
			t.Fatal(err)
		}
	}

	send("MESSAGE_CREATE", `null`)
	if m := next(t, messages); m.Message != nil {
		t.Errorf("null: got message %+v, want nil", m.Message)
	}
	send("MESSAGE_CREATE", `{"id":"1","channel_id":"2","content":"x"}`)
	if m := next(t, messages); m.Author != nil || m.Content != "x" {
		t.Errorf("no author: got %+v, want a nil author", m.Message)
	}
	send("MESSAGE_CREATE", `{"id":5,"content":"x"}`)
	if m := next(t, messages); m.Message == nil || m.Content != "" {
		t.Errorf("wrong type: got %+v, want an empty message", m.Message)
	}
	send("INTERACTION_CREATE", `null`)
	if i := next(t, interactions); i.Interaction != nil {
		t.Errorf("null: got interaction %+v, want nil", i.Interaction)
	}
	send("INTERACTION_CREATE", `{"id":"1","type":99,"token":"t","data":{"x":1}}`)
	if i := next(t, interactions); i.Data != nil || i.Type != 99 || i.Token != "t" {
		t.Errorf("unknown type: got %+v, want nil data", i.Interaction)
	}
	send("INTERACTION_CREATE", `{"id":"1","type":2,"data":{"name":"clank","type":1}}`)
	if i := next(t, interactions); i.Member != nil || i.User != nil || i.ApplicationCommandData().Name != "clank" {
		t.Errorf("nobody: got %+v, want neither member nor user", i.Interaction)
	}
	send("INTERACTION_CREATE", `{"id":"1","type":2}`)
	if i := next(t, interactions); i.Data != nil {
		t.Errorf("no data: got %+v, want nil", i.Data)
	}
	send("INTERACTION_CREATE", `{"id":"1","type":2,"data":{"name":7}}`)
	if i := next(t, interactions); i.Data != nil {
		t.Errorf("wrong data: got %+v, want nil", i.Data)
	}
	send("INVENTED_LATER", `[1,2]`)
	for e := next(t, raw); e.Type != "INVENTED_LATER"; {
		e = next(t, raw)
	}
	if err := w.SendRaw(w.bot, `{"op":0,`); err != nil {
		t.Fatal(err)
	}
	if err := w.SendRaw(w.bot, `{"op":77,"d":{}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SendMessage(w.room, w.ada, "after all that"); err != nil {
		t.Fatal(err)
	}
	if m := next(t, messages); m.Content != "after all that" {
		t.Errorf("got %+v, want the session to be alive", m.Message)
	}
	if err := w.Dispatch(w.bot, "MESSAGE_CREATE", `{`); err == nil {
		t.Error("broken JSON was dispatched, want it refused")
	}
	if err := w.Dispatch(discordtest.Bot{}, "MESSAGE_CREATE", `{}`); err == nil {
		t.Error("an event was dispatched to nobody")
	}
}
