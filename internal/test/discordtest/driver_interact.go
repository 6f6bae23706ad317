package discordtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Args are the values of a slash command by name. Strings, numbers and booleans
// are as in Go; a User, Channel or Role may stand for itself, a File for an
// attachment.
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
	it, data, err := s.commandCall(in, user, path, args, CommandInteraction)
	if err != nil {
		return Interaction{}, err
	}
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	return s.rest.Interact(it, data), nil
}

// Complete asks for completions of one argument that the person is typing.
func (s *Server) Complete(in Channel, user User, path, focused, typed string) (Interaction, error) {
	it, data, err := s.commandCall(in, user, path, Args{focused: typed}, AutocompleteInteraction)
	if err != nil {
		return Interaction{}, err
	}
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	return s.rest.Interact(it, data), nil
}

func (s *Server) commandCall(in Channel, user User, path string, args Args, kind int) (*InteractionExchange, map[string]any, error) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	words := strings.Fields(path)
	ch := s.rest.Channels[in.ID]
	if ch == nil || len(words) == 0 {
		return nil, nil, fmt.Errorf("use /%s: %w", path, ErrNoCommand)
	}
	if s.rest.Permissions(ch, user.ID)&UseCommands == 0 {
		return nil, nil, fmt.Errorf("use /%s as %s: %w", path, user.Username, ErrMissingPerms)
	}
	app, command := s.findCommand(ch, words[0])
	if app == nil {
		return nil, nil, fmt.Errorf("use /%s: %w", path, ErrNoCommand)
	}
	b := argBuilder{server: s, channel: ch, partial: kind == AutocompleteInteraction, resolved: map[string]map[string]any{}}
	options, err := b.nest(command.Options, words[1:], args)
	if err != nil {
		return nil, nil, fmt.Errorf("use /%s: %w", path, err)
	}
	data := map[string]any{"id": command.ID, "name": command.Name, "type": 1}
	if len(options) > 0 {
		data["options"] = options
	}
	if len(b.resolved) > 0 {
		data["resolved"] = b.resolved
	}
	if command.GuildID != "" {
		data["guild_id"] = command.GuildID
	}
	return &InteractionExchange{App: app, Kind: kind, Channel: ch, User: user, Name: path}, data, nil
}

// findCommand looks for the command among the bots of the channel; a guild's own
// commands come before those for everyone.
func (s *Server) findCommand(ch *Channel, name string) (*Account, *Command) {
	for _, scope := range []string{ch.GuildID, ""} {
		for _, a := range s.rest.Accounts {
			if s.rest.Permissions(ch, a.User.ID) == 0 && ch.BotID != a.User.ID {
				continue
			}
			for i, c := range a.Commands[scope] {
				if c.Name == name && c.Type == 1 && c.UsableIn(ch) {
					return a, &a.Commands[scope][i]
				}
			}
		}
	}
	return nil, nil
}

// PressButton presses a button below a message that the person sees.
func (s *Server) PressButton(on Message, user User, customID string) (Interaction, error) {
	return s.pressComponent(on, user, customID, nil)
}

// Choose picks values of a menu below a message that the person sees.
func (s *Server) Choose(on Message, user User, customID string, values ...string) (Interaction, error) {
	return s.pressComponent(on, user, customID, values)
}

func (s *Server) pressComponent(on Message, user User, customID string, values []string) (Interaction, error) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	r := s.rest.Messages[on.ID]
	if r == nil || r.Deleted || r.ViewerID != "" && r.ViewerID != user.ID {
		return Interaction{}, fmt.Errorf("use %q: %w", customID, ErrNoComponent)
	}
	ch := s.rest.Channels[r.ChannelID]
	c, ok := FindComponent(r.Components, customID)
	app := s.rest.Accounts[r.Author.ID]
	if !ok || c.Disabled || app == nil || ch == nil || s.rest.Permissions(ch, user.ID)&ViewChannel == 0 {
		return Interaction{}, fmt.Errorf("use %q: %w", customID, ErrNoComponent)
	}
	for _, v := range values {
		if !slices.ContainsFunc(c.Options, func(o SelectOption) bool { return o.Value == v }) && c.Type == StringSelect {
			return Interaction{}, fmt.Errorf("choose %q in %q: %w", v, customID, ErrBadArgument)
		}
	}
	data := map[string]any{"custom_id": c.CustomID, "component_type": c.Type, "id": c.ID}
	if c.Type != ButtonComponent {
		data["values"] = append([]string{}, values...)
	}
	return s.rest.Interact(&InteractionExchange{App: app, Kind: ComponentInteraction, Channel: ch, User: user, Target: r.ID}, data), nil
}

// SubmitModal fills in the modal that answered an interaction, input by custom
// id, and sends it.
func (s *Server) SubmitModal(answered Interaction, values map[string]string) (Interaction, error) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	from := s.rest.Interactions[answered.ID]
	if from == nil || from.Modal == nil {
		return Interaction{}, fmt.Errorf("submit a modal: %w", ErrNoComponent)
	}
	var rows []map[string]any
	for _, row := range from.Modal.Components {
		input := row.Components[0]
		value, given := values[input.CustomID]
		if !given {
			value = input.Value
		}
		if value == "" && (input.Required == nil || *input.Required) {
			return Interaction{}, fmt.Errorf("submit a modal without %q: %w", input.CustomID, ErrBadArgument)
		}
		rows = append(rows, map[string]any{"type": ActionRow, "components": []map[string]any{
			{"type": TextInput, "custom_id": input.CustomID, "value": value},
		}})
	}
	it := &InteractionExchange{App: from.App, Kind: ModalInteraction, Channel: from.Channel, User: from.User, Target: from.Target}
	return s.rest.Interact(it, map[string]any{"custom_id": from.Modal.CustomID, "components": rows}), nil
}

// ForgetInteraction makes Discord know the interaction no longer: each answer to
// it fails with 10062 or 10015.
func (s *Server) ForgetInteraction(id string) {
	s.rest.Mu.Lock()
	defer s.rest.Mu.Unlock()
	if it := s.rest.Interactions[id]; it != nil {
		it.Forgotten = true
	}
}
