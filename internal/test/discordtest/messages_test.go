package discordtest_test

import (
	"encoding/json"
	"io"
	"net/http"
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
		limit  int
		before string
		want   string
	}{
		"newest first": {0, "", "543210"},
		"limit":        {2, "", "54"},
		"before":       {2, ids[3], "21"},
	} {
		list, err := d.ChannelMessages(w.room.ID, c.limit, c.before, "", "")
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
