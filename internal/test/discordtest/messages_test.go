package discordtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
)

func TestEditsKeepEveryVersionAndItsFiles(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{
		Content: "one", Files: []*discordgo.File{{Name: "a b.txt", ContentType: "text/plain", Reader: strings.NewReader("first")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	two := "two"
	if _, err := d.ChannelMessageEditComplex(&discordgo.MessageEdit{
		ID: m.ID, Channel: w.room.ID, Content: &two,
		Files: []*discordgo.File{{Name: "c.txt", Reader: strings.NewReader("second")}},
	}); err != nil {
		t.Fatal(err)
	}
	kept := []*discordgo.MessageAttachment{}
	if _, err := d.ChannelMessageEditComplex(&discordgo.MessageEdit{ID: m.ID, Channel: w.room.ID, Attachments: &kept}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range w.History(m.ID) {
		parts := []string{v.Content}
		for _, a := range v.Attachments {
			parts = append(parts, a.Filename+"="+string(a.Data))
		}
		got = append(got, strings.Join(parts, " "))
	}
	want := []string{"one a_b.txt=first", "two a_b.txt=first c.txt=second", "two"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	resp, err := d.Client.Get(m.Attachments[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "first" || resp.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("got file %q, %v, want the first", body, err)
	}
}

func TestEditsChangeTheFlagsThatCanBeChanged(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{Content: "one", Flags: discordtest.FlagSilent})
	if err != nil {
		t.Fatal(err)
	}
	text := "two"
	for _, flags := range []discordgo.MessageFlags{discordtest.FlagSuppressEmbeds | discordtest.FlagEphemeral, 0} {
		edit := &discordgo.MessageEdit{ID: m.ID, Channel: w.room.ID, Content: &text, Flags: flags}
		if _, err := d.ChannelMessageEditComplex(edit); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Request(http.MethodPatch, discordgo.EndpointChannelMessage(w.room.ID, m.ID), map[string]int{"flags": 0}); err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, v := range w.History(m.ID) {
		got = append(got, v.Flags)
	}
	silent, quiet := discordtest.FlagSilent, discordtest.FlagSilent|discordtest.FlagSuppressEmbeds
	if diff := cmp.Diff([]int{silent, quiet, quiet, silent}, got); diff != "" { // discordgo leaves out a zero
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

func TestAnEnforcedNonceMakesOneMessage(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	send := func(nonce any, enforce bool) string {
		t.Helper()
		body := map[string]any{"content": "hi", "nonce": nonce, "enforce_nonce": enforce}
		answer, err := d.Request(http.MethodPost, discordgo.EndpointChannelMessages(w.room.ID), body)
		if err != nil {
			t.Fatal(err)
		}
		var m discordgo.Message
		if err := json.Unmarshal(answer, &m); err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	first := send("a", true)
	if again := send("a", true); again != first {
		t.Errorf("a second try made %s beside %s", again, first)
	}
	send("b", true)
	send("a", false)
	send(nil, true)
	send([]int{1}, true)
	w.Advance(10 * time.Minute)
	send("a", true)
	if got := len(w.Messages(w.room)); got != 6 {
		t.Errorf("messages = %d, want 6", got)
	}
}

func TestAllowedMentionsDecideWhoIsCalled(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	crew := w.CreateRole(w.guild, "crew", 0)
	d := w.session(t)
	text := w.ada.Mention() + w.bob.Mention() + " <@&" + crew.ID + "> @everyone"
	for name, c := range map[string]struct {
		allowed *discordgo.MessageAllowedMentions
		want    string
	}{
		"everything by default": {nil, "ada bob crew everyone"},
		"nothing":               {&discordgo.MessageAllowedMentions{}, ""},
		"users":                 {&discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{"users"}}, "ada bob"},
		"one user":              {&discordgo.MessageAllowedMentions{Users: []string{w.bob.ID}}, "bob"},
		"roles":                 {&discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{"roles"}}, "crew"},
		"everyone":              {&discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{"everyone"}}, "everyone"},
	} {
		m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{Content: text, AllowedMentions: c.allowed})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, u := range m.Mentions {
			got = append(got, u.Username)
		}
		if len(m.MentionRoles) > 0 {
			got = append(got, "crew")
		}
		if m.MentionEveryone {
			got = append(got, "everyone")
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{Content: text, AllowedMentions: &discordgo.MessageAllowedMentions{
		Parse: []discordgo.AllowedMentionType{"users"}, Users: []string{w.bob.ID},
	}})
	refusal(t, err, 400, 50035)
}

func TestReplyDoesNotPingWhenToldNotTo(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	asked, err := w.SendMessage(w.room, w.ada, "hello?")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{
		Content: "hi", AllowedMentions: &discordgo.MessageAllowedMentions{},
		Reference: &discordgo.MessageReference{MessageID: asked.ID, ChannelID: w.room.ID},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Type != discordgo.MessageTypeReply || m.ReferencedMessage.ID != asked.ID || len(m.Mentions) != 0 {
		t.Errorf("got %+v, want a reply without mentions", m)
	}
	w.DeleteMessage(asked)
	_, err = d.ChannelMessageSendReply(w.room.ID, "hi", &discordgo.MessageReference{MessageID: asked.ID, ChannelID: w.room.ID})
	refusal(t, err, 400, 50035)
	if _, err = d.ChannelMessageSendReply(w.room.ID, "hi", (&discordgo.Message{ID: asked.ID, ChannelID: w.room.ID}).SoftReference()); err != nil {
		t.Errorf("a soft reply to a deleted message: %v", err)
	}
}

func TestMessagesAreListedByWindow(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	var ids []string
	for i := range 6 {
		m, err := w.SendMessage(w.room, w.ada, strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	for name, c := range map[string]struct {
		limit                 int
		before, after, around string
		want                  string
	}{
		"newest first": {0, "", "", "", "543210"},
		"limit":        {2, "", "", "", "54"},
		"before":       {2, ids[3], "", "", "21"},
		"after":        {2, "", ids[1], "", "32"},
		"around":       {3, "", "", ids[2], "321"},
	} {
		list, err := d.ChannelMessages(w.room.ID, c.limit, c.before, c.after, c.around)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var contents []string
		for _, m := range list {
			contents = append(contents, m.Content)
		}
		if got := strings.Join(contents, ""); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	_, err := d.ChannelMessages(w.room.ID, 101, "", "", "")
	refusal(t, err, 400, 50035)
}

func TestDeletedAndEditedMessagesAreAnnounced(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	edits, deletions := events[*discordgo.MessageUpdate](d), events[*discordgo.MessageDelete](d)
	open(t, w, d)
	m, err := w.SendMessage(w.room, w.ada, "old")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.EditMessage(m, "new"); err != nil {
		t.Fatal(err)
	}
	if e := next(t, edits); e.Content != "new" || e.EditedTimestamp == nil {
		t.Errorf("got edit %+v, want the new text and a time", e.Message)
	}
	w.DeleteMessage(m)
	if e := next(t, deletions); e.ID != m.ID || e.ChannelID != w.room.ID {
		t.Errorf("got deletion of %s, want %s", e.ID, m.ID)
	}
	_, err = d.ChannelMessage(w.room.ID, m.ID)
	refusal(t, err, 404, 10008)
	if err := w.Wait(deadline(t), "nothing to be left", func() bool { return len(w.Messages(w.room)) == 0 }); err != nil {
		t.Error(err)
	}
}

func TestMessageContentRule(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	d.Identify.Intents = discordgo.IntentsAllWithoutPrivileged
	heard := events[*discordgo.MessageCreate](d)
	open(t, w, d)
	picture := discordtest.File{Name: "x.png", Data: []byte("x")}
	for _, c := range []struct {
		in       discordtest.Channel
		text     string
		readable bool
	}{
		{w.room, "to nobody", false},
		{w.room, "to " + w.bot.Mention(), true},
		{w.OpenDM(w.ada, w.bot), "in private", true},
	} {
		if _, err := w.SendMessage(c.in, w.ada, c.text, picture); err != nil {
			t.Fatal(err)
		}
		m := next(t, heard)
		if readable := m.Content == c.text && len(m.Attachments) == 1; readable != c.readable {
			t.Errorf("got message %q with %d files, want it readable: %v", m.Content, len(m.Attachments), c.readable)
		}
	}
}

func TestDirectMessages(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	ch, err := d.UserChannelCreate(w.ada.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.ChannelMessageSend(ch.ID, "psst"); err != nil {
		t.Fatal(err)
	}
	dm := w.OpenDM(w.ada, w.bot)
	if got := w.Messages(dm); len(got) != 1 || got[0].Content != "psst" {
		t.Errorf("got messages %+v, want the whisper", got)
	}
	w.CloseDMs(w.ada)
	_, err = d.ChannelMessageSend(ch.ID, "psst")
	refusal(t, err, 403, 50007)
	_, err = d.UserChannelCreate("1")
	refusal(t, err, 404, 10013)
}

func TestReactionsAndTyping(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	added, removed := events[*discordgo.MessageReactionAdd](d), events[*discordgo.MessageReactionRemove](d)
	typing := events[*discordgo.TypingStart](d)
	open(t, w, d)
	m, err := w.SendMessage(w.room, w.ada, "stop")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.MessageReactionAdd(w.room.ID, m.ID, "🛑"); err != nil {
		t.Fatal(err)
	}
	if err := w.WaitReaction(deadline(t), m, w.bot.User, "🛑"); err != nil {
		t.Fatal(err)
	}
	if e := next(t, added); e.Emoji.Name != "🛑" || e.UserID != w.bot.ID {
		t.Errorf("got reaction %+v, want the bot's", e.MessageReaction)
	}
	w.React(m, w.bob, "🛑")
	next(t, added)
	users, err := d.MessageReactions(w.room.ID, m.ID, "🛑", 10, "", "")
	if err != nil || len(users) != 2 {
		t.Errorf("got %d users, %v, want two", len(users), err)
	}
	seen, err := d.ChannelMessage(w.room.ID, m.ID)
	if err != nil || len(seen.Reactions) != 1 || seen.Reactions[0].Count != 2 || !seen.Reactions[0].Me {
		t.Errorf("got %+v, %v, want two of one emoji, one of them ours", seen, err)
	}
	if err := d.MessageReactionRemove(w.room.ID, m.ID, "🛑", "@me"); err != nil {
		t.Fatal(err)
	}
	next(t, removed)
	w.Unreact(m, w.bob, "🛑")
	next(t, removed)
	if got := w.Reactions(m); len(got) != 0 {
		t.Errorf("got reactions %v, want none", got)
	}
	refusal(t, d.MessageReactionAdd(w.room.ID, m.ID, "notanemoji"), 400, 10014)

	if err := d.ChannelTyping(w.room.ID); err != nil {
		t.Fatal(err)
	}
	next(t, typing)
	w.StartTyping(w.room, w.ada)
	if e := next(t, typing); e.UserID != w.ada.ID {
		t.Errorf("got typing of %s, want ada", e.UserID)
	}
	if got := w.Typing(w.room); len(got) != 2 || got[0].User.ID != w.bot.ID {
		t.Errorf("got typing %v, want the bot, then ada", got)
	}
}

func TestThreadStartsFromAMessage(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	m, err := w.SendMessage(w.room, w.ada, "a long story")
	if err != nil {
		t.Fatal(err)
	}
	thread, err := d.MessageThreadStart(w.room.ID, m.ID, "story", 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.ChannelMessageSend(thread.ID, "once upon a time"); err != nil {
		t.Fatal(err)
	}
	_, err = d.MessageThreadStart(w.room.ID, m.ID, "story", 60)
	refusal(t, err, 400, 160004)
}

func TestAnotherBotIsHeardButHasItsOwnMessages(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	other := w.CreateBot("parrot", "other")
	d := w.session(t)
	heard := events[*discordgo.MessageCreate](d)
	open(t, w, d)
	if _, err := w.SendMessage(w.room, other.User, "squawk"); err == nil {
		t.Error("a bot outside of the guild could write")
	}
	w.AddMember(w.guild, other.User)
	m, err := w.SendMessage(w.room, other.User, "squawk")
	if err != nil {
		t.Fatal(err)
	}
	if e := next(t, heard); !e.Author.Bot || e.Author.ID != other.ID {
		t.Errorf("got author %+v, want the other bot", e.Author)
	}
	_, err = d.ChannelMessageEdit(w.room.ID, m.ID, "mine now")
	refusal(t, err, 403, 50005)
	refusal(t, d.ChannelMessageDelete(w.room.ID, m.ID), 403, 50013)
	_, err = d.ApplicationCommands(other.ID, "")
	refusal(t, err, 403, 20012)
}

func TestMultipartWithoutFilesIsRead(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	kind, body, err := discordgo.MultipartBodyWithJSON(map[string]any{"content": "plain"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(deadline(t), "POST", w.URL+"/api/v10/channels/"+w.room.ID+"/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "Bot secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || w.Messages(w.room)[0].Content != "plain" {
		t.Errorf("got status %d, want the message", resp.StatusCode)
	}
	last := w.RequestsTo(discordtest.RouteCreateMessage)
	if got, want := string(last[0].JSON()), `{"content":"plain"}`; got != want {
		t.Errorf("got recorded JSON %s, want %s", got, want)
	}
	if !slices.Equal(last[0].Header["Authorization"], []string{"Bot secret"}) || last[0].Status != 200 {
		t.Errorf("got recorded request %+v, want header and status", last[0])
	}
}
