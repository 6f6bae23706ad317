package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/internal/test/discordtest"
)

// listens is in the notice that clank gives when a call begins.
const listens = "I have joined the call and listen"

// callPage joins the call on the page, without a microphone, and leaves it.
func (s *smokeRun) callPage(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/call"); err != nil {
		return "", err
	}
	if err := s.browser.click(ctx, "#join-quiet"); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "that we are in the call", `document.body.dataset.state === "in"`); err != nil {
		return "", err
	}
	notice := `[...document.querySelectorAll("#log .notice")].some((n) => n.textContent.includes("` + listens + `"))`
	if err := s.browser.waitFor(ctx, "that clank says it listens", notice); err != nil {
		return "", err
	}
	if err := s.browser.click(ctx, "#leave"); err != nil {
		return "", err
	}
	return "", s.browser.waitFor(ctx, "that we have left", `document.body.dataset.state === "out" && !document.getElementById("join-error").textContent`)
}

// joinCall brings clank into a voice channel, where it writes that it listens.
func (s *smokeRun) joinCall(ctx context.Context) (string, error) {
	if s.discord == nil || s.server == nil {
		return "", errNoDiscord
	}
	d := s.discord
	d.JoinVoice(d.call, d.ada)
	begun, err := s.command(ctx, "clank join", "I am in <#"+d.call.ID+">")
	if err != nil {
		return "", err
	}
	told, err := d.WaitMessage(ctx, d.call, func(m discordtest.Message) bool { return strings.Contains(m.Content, listens) })
	if err != nil {
		return "", err
	}
	if violations := d.Voice.Violations(); len(violations) > 0 {
		return "", fmt.Errorf("the voice server says: %v", violations)
	}
	return fmt.Sprintf("told after %d ms", told.Timestamp.Sub(begun.At).Milliseconds()), wantAll(told.Content, "clank privacy", "stored")
}

// leaveCall sends it away again.
func (s *smokeRun) leaveCall(ctx context.Context) (string, error) {
	if s.discord == nil || s.server == nil {
		return "", errNoDiscord
	}
	if _, err := s.command(ctx, "clank leave", "I have left the call."); err != nil {
		return "", err
	}
	if state, there := s.discord.VoiceStates(s.discord.guild)[s.discord.clank.ID]; there && state.ChannelID != nil {
		return "", errors.New("clank is in the voice channel still")
	}
	return "", nil
}

// command uses a command without arguments and waits for its answer.
func (s *smokeRun) command(ctx context.Context, name, want string) (discordtest.Interaction, error) {
	it, err := s.discord.SlashCommand(s.discord.channel, s.discord.ada, name, nil)
	if err != nil {
		return it, err
	}
	done, err := s.discord.WaitInteraction(ctx, it, func(i discordtest.Interaction) bool { return i.Text() != "" })
	if err != nil {
		return done, err
	}
	return done, wantAll(done.Text(), want)
}
