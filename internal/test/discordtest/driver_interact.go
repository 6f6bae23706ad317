package discordtest

import (
	"errors"
	"fmt"
	"strings"
)

// Args are the values of a slash command by name: strings, numbers and booleans.
type Args map[string]any

// Reasons why a person could not do what the test asked for.
var (
	ErrNoCommand   = errors.New("no bot here has registered that command")
	ErrBadArgument = errors.New("discord would not send that argument")
	ErrNoComponent = errors.New("the person sees no such component that could be used")
)

// SlashCommand uses a command in a channel. The path is its name, then the
// subcommand and so on, parted by spaces: "clank browse". It fails as Discord's
// own input line would: for unknown commands, missing or wrong arguments.
func (s *Server) SlashCommand(in Channel, user User, path string, args Args) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	words := strings.Fields(path)
	ch := s.hub.Channels[in.ID]
	if ch == nil || len(words) == 0 {
		return Interaction{}, fmt.Errorf("use /%s: %w", path, ErrNoCommand)
	}
	if s.hub.Permissions(ch, user.ID)&UseCommands == 0 {
		return Interaction{}, fmt.Errorf("use /%s as %s: %w", path, user.Username, ErrMissingPerms)
	}
	app, command := s.findCommand(ch, words[0])
	if app == nil {
		return Interaction{}, fmt.Errorf("use /%s: %w", path, ErrNoCommand)
	}
	options, err := nestOptions(command.Options, words[1:], args)
	if err != nil {
		return Interaction{}, fmt.Errorf("use /%s: %w", path, err)
	}
	data := map[string]any{"id": command.ID, "name": command.Name, "type": 1}
	if len(options) > 0 {
		data["options"] = options
	}
	it := &InteractionExchange{App: app, Kind: CommandInteraction, Channel: ch, User: user, Name: path}
	return s.hub.Interact(it, data), nil
}

// findCommand looks for the command among the bots of the channel.
func (s *Server) findCommand(ch *Channel, name string) (*Account, *Command) {
	for _, a := range s.hub.Accounts {
		if s.hub.Permissions(ch, a.User.ID) == 0 && ch.BotID != a.User.ID {
			continue
		}
		for i, c := range a.Commands {
			if c.Name == name && c.Type == 1 && c.UsableIn(ch) {
				return a, &a.Commands[i]
			}
		}
	}
	return nil, nil
}

// PressButton presses a button below a message that the person sees.
func (s *Server) PressButton(on Message, user User, customID string) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	r := s.hub.Messages[on.ID]
	if r == nil || r.Deleted || r.ViewerID != "" && r.ViewerID != user.ID {
		return Interaction{}, fmt.Errorf("use %q: %w", customID, ErrNoComponent)
	}
	ch := s.hub.Channels[r.ChannelID]
	c, ok := findButton(r.Components, customID)
	app := s.hub.Accounts[r.Author.ID]
	if !ok || c.Disabled || app == nil || ch == nil || s.hub.Permissions(ch, user.ID)&ViewChannel == 0 {
		return Interaction{}, fmt.Errorf("use %q: %w", customID, ErrNoComponent)
	}
	data := map[string]any{"custom_id": c.CustomID, "component_type": c.Type, "id": c.ID}
	return s.hub.Interact(&InteractionExchange{App: app, Kind: ComponentInteraction, Channel: ch, User: user, Target: r.ID}, data), nil
}

// ForgetInteraction makes Discord know the interaction no longer: each answer to
// it fails with 10062 or 10015.
func (s *Server) ForgetInteraction(id string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if it := s.hub.Interactions[id]; it != nil {
		it.Forgotten = true
	}
}
