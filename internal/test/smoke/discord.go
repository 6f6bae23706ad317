package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/internal/test/discordtest"
)

// serveAgain starts the server with a token, on an emulated Discord.
func (s *smokeRun) serveAgain(ctx context.Context) (string, error) {
	if s.server != nil {
		return "", errors.New("the server still runs")
	}
	d, err := discordtest.Start(discordtest.Config{}) // it lives until it is closed
	if err != nil {
		return "", err
	}
	r := &discordRoom{Server: d, clank: d.CreateBot("clank", "secret"), ada: d.CreateUser("ada")}
	r.guild = d.CreateGuild("home", r.ada)
	d.AddMember(r.guild, r.clank.User)
	r.channel = d.CreateChannel(r.guild, "general")
	s.discord = r
	env := []string{"DISCORD_TOKEN=" + r.clank.Token, "CLANK_DISCORD_API=" + d.URL}
	note, err := s.startServer(ctx, env, "discord  connected")
	if err != nil {
		return "", err
	}
	return note, d.WaitConnected(ctx, r.clank)
}

// discordBrowse asks for a picture at the end: what the message shows on the way
// depends on how fast the work is.
func (s *smokeRun) discordBrowse(ctx context.Context) (string, error) {
	if s.discord == nil || s.server == nil {
		return "", errors.New("clank is not in Discord")
	}
	it, err := s.discord.SlashCommand(s.discord.channel, s.discord.ada, "clank browse", discordtest.Args{"task": firstTry + ", screenshot"})
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
