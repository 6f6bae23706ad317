package bot_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/npm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// peerEvent is what a bot of discord.js tells.
type peerEvent struct {
	Event, Text             string
	Files, Buttons, Options []string
}

// discordJS is a bot of discord.js in the stage's guild.
type discordJS struct {
	*npm.Process
	t      *testing.T
	events chan peerEvent
}

func startDiscordJS(t *testing.T, s *stage) *discordJS {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("the peer is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	modules := t.TempDir()
	check.Must(t, npm.Install(t.Context(), modules, "discord.js@14.28.1"))
	script, err := os.ReadFile("testdata/discordjs.mjs")
	check.Must(t, err)
	account := s.CreateBot("peer", "theirs")
	s.AddMember(s.guild, account.User)
	p, err := npm.StartProcess(context.WithoutCancel(t.Context()), os.Stderr, string(script), modules, s.URL+"/api",
		account.Token)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, p.Close()) })
	d := &discordJS{p, t, make(chan peerEvent, 1000)}
	go func() {
		defer close(d.events)
		for lines := bufio.NewScanner(p.Out); lines.Scan(); {
			var e peerEvent
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				d.events <- e
			}
		}
	}()
	return d
}

// await waits until the peer tells what is wanted.
func (d *discordJS) await(s *stage, what string, match func(peerEvent) bool) {
	d.t.Helper()
	late := s.ctx()
	var seen []peerEvent
	for {
		select {
		case e, ok := <-d.events:
			if e.Event == "error" || !ok {
				d.t.Fatalf("the peer fails: %q", e.Text)
			}
			if match(e) {
				return
			}
			seen = append(seen, e)
		case <-late.Done():
			d.t.Fatalf("no %s; seen: %+v", what, seen)
		}
	}
}

// TestABotOfOtherHandsReadsWhatWePost has discord.js read our messages, buttons, menus, files and forms.
func TestABotOfOtherHandsReadsWhatWePost(t *testing.T) {
	s := newStage(t)
	s.bot.Links, s.bot.Pages = phone{}, pages{operator: s.ada.ID}
	s.replier.reply = func(context.Context, assistant.Turn, func(assistant.Progress)) (assistant.Answer, error) {
		return assistant.Answer{Text: "Which one?", Asks: true, Choices: []string{"large", "small"}}, nil
	}
	s.open()
	peer := startDiscordJS(t, s)
	peer.await(s, "greeting", func(e peerEvent) bool { return e.Event == "ready" })
	s.say(s.room, s.ada, s.account.Mention()+" a lamp")
	peer.await(s, "menu", func(e peerEvent) bool { return cmp.Equal(e.Options, []string{"large", "small"}) })
	path := filepath.Join(t.TempDir(), "bill.pdf")
	data := []byte("%PDF-1.7 of a bill")
	check.Must(t, os.WriteFile(path, data, 0o600))
	it := s.browse(s.ada, discordtest.Args{"task": "bills"})
	k := s.next()
	rec := sessions.TaskRecord{
		Task: k.Task, State: sessions.TaskDone, Answer: "Here **they** are.", Steps: 1,
		Downloads: []sessions.File{{Name: "bill.pdf", Type: "application/pdf", Size: int64(len(data)), Path: path}},
	}
	rec.ID, rec.SessionID = "task1", "s1"
	s.tasks.mu.Lock()
	s.tasks.sessions = []sessions.Session{{ID: "s1", Origin: k.Origin, State: sessions.SessionIdle}}
	s.tasks.mu.Unlock()
	k.end <- ending{rec: rec}
	buttons := []string{"Continue", "Retry", "Live", "Screenshot", "Close", "Files", "Save as script"}
	peer.await(s, "answer with its buttons", func(e peerEvent) bool {
		return cmp.Equal(e.Buttons, buttons) && len(e.Text) > 0
	})
	file := fmt.Sprintf("bill.pdf %x", sha256.Sum256(data))
	peer.await(s, "file", func(e peerEvent) bool { return slices.Contains(e.Files, file) })
	answer := s.answer(it, "Here").Original
	form := s.answered(s.pressLabel(*answer, s.ada, "Continue"))
	line, err := json.Marshal(form.Modal)
	check.Must(t, err)
	check.Must(t, check.Err(peer.In.Write(append(line, '\n'))))
	peer.await(s, "form", func(e peerEvent) bool {
		return e.Event == "form" && e.Text == "Go on with session s1" && slices.Contains(e.Buttons, "What to do next")
	})
}
