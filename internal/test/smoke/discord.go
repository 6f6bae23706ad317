package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
)

// serveAgain starts the server with a token, on an emulated Discord.
func (s *smokeRun) serveAgain(ctx context.Context) (string, error) {
	if s.server != nil {
		return "", errors.New("the server still runs")
	}
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1}}) // it lives until it is closed
	if err != nil {
		return "", err
	}
	r := &discordRoom{Server: d, clank: d.CreateBot("clank", "secret"), ada: d.CreateUser("ada")}
	r.guild = d.CreateGuild("home", r.ada)
	d.AddMember(r.guild, r.clank.User)
	r.channel, r.call = d.CreateChannel(r.guild, "general"), d.CreateVoiceChannel(r.guild, "Evening")
	s.discord = r
	trust := filepath.Join(s.root, "trust.pem")
	if err := os.WriteFile(trust, d.Voice.Certificate(), 0o600); err != nil {
		return "", fmt.Errorf("write the certificate of the voice server: %w", err)
	}
	env := []string{"DISCORD_TOKEN=" + r.clank.Token, "CLANK_DISCORD_API=" + d.URL, "SSL_CERT_FILE=" + trust}
	note, err := s.startServer(ctx, env, "discord  connected")
	if err != nil {
		return "", err
	}
	return note, d.WaitConnected(ctx, r.clank)
}

var errNoDiscord = errors.New("clank is not in Discord")

// slash uses /clank browse.
func (s *smokeRun) slash(task string) (discordtest.Interaction, error) {
	if s.discord == nil || s.server == nil {
		return discordtest.Interaction{}, errNoDiscord
	}
	return s.discord.SlashCommand(s.discord.channel, s.discord.ada, "clank browse", discordtest.Args{"task": task})
}

// discordBrowse asks for a picture at the end: what the message shows on the way
// depends on how fast the work is.
func (s *smokeRun) discordBrowse(ctx context.Context) (string, error) {
	it, err := s.slash(firstTry + ", screenshot")
	if err != nil {
		return "", err
	}
	it, err = s.discord.WaitInteraction(ctx, it, func(i discordtest.Interaction) bool { return strings.Contains(i.Text(), found) })
	if err != nil {
		return "", err
	}
	if it.Answer != discordtest.AnswerDeferred {
		return "", fmt.Errorf("the first answer was of type %d, want deferred (%d)", it.Answer, discordtest.AnswerDeferred)
	}
	edits := len(s.discord.History(it.Original.ID)) - 1
	if n := len(s.discord.Messages(s.discord.channel)); n != 1 || edits < 2 {
		return "", fmt.Errorf("%d messages and %d edits, want one message that changes", n, edits)
	}
	if n := len(it.Original.Attachments); n != 1 {
		return "", fmt.Errorf("the answer has %d files, want a picture", n)
	}
	kind, err := picture(it.Original.Attachments[0].Data)
	return fmt.Sprintf("deferred after %d ms, %d edits, %s", it.AnsweredAt.Sub(it.At).Milliseconds(), edits, kind), err
}

func (s *smokeRun) discordMention(ctx context.Context) (string, error) {
	if s.discord == nil || s.server == nil {
		return "", errNoDiscord
	}
	asked, err := s.discord.SendMessage(s.discord.channel, s.discord.ada, s.discord.clank.Mention()+" "+firstTry)
	if err != nil {
		return "", err
	}
	reply, err := s.discord.WaitMessage(ctx, s.discord.channel, func(m discordtest.Message) bool {
		return m.Reference != nil && m.Reference.MessageID == asked.ID && strings.Contains(m.Content, found)
	})
	if err != nil {
		return "", err
	}
	if reply.Author.ID != s.discord.clank.ID {
		return "", fmt.Errorf("%s replied", reply.Author.Username)
	}
	return "", nil
}

func (s *smokeRun) discordStop(ctx context.Context) (string, error) {
	it, err := s.slash(endless)
	if err != nil {
		return "", err
	}
	it, err = s.discord.WaitInteraction(ctx, it, func(i discordtest.Interaction) bool {
		_, step, ok := strings.Cut(i.Text(), "\nStep ")
		return ok && strings.Contains(step, "wait for") && len(i.Original.Buttons()) == 1
	})
	if err != nil {
		return "", err
	}
	word, err := s.discord.SendMessage(s.discord.channel, s.discord.ada, "stop")
	if err != nil {
		return "", err
	}
	it, err = s.discord.WaitInteraction(ctx, it, func(i discordtest.Interaction) bool {
		return strings.Contains(strings.ToLower(i.Text()), "stopped by") && len(i.Original.Buttons()) == 0
	})
	if err != nil {
		return "", err
	}
	versions := s.discord.History(it.Original.ID)
	return fmt.Sprintf("told after %d ms", versions[len(versions)-1].At.Sub(word.Timestamp).Milliseconds()), nil
}
