package discordtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Args are the values of a slash command by name: strings, numbers and booleans.
type Args map[string]any

// Errors if a person cannot do what the test requests.
var (
	ErrNoCommand   = errors.New("no bot here has registered that command")
	ErrBadArgument = errors.New("discord would not send that argument")
	ErrNoComponent = errors.New("the person sees no such component that could be used")
)

// SlashCommand uses a command in a channel. The path is its name followed by the subcommands, separated by spaces:
// "clank browse". Like Discord's input line, it fails for unknown commands and for missing or wrong arguments.
func (s *Server) SlashCommand(in Channel, user User, path string, args Args) (Interaction, error) {
	return s.typeCommand(in, user, path, args, "")
}

// Complete types into an option of a slash command for which the bot provides autocompletion. The other arguments are
// those entered before.
func (s *Server) Complete(in Channel, user User, path, option string, args Args) (Interaction, error) {
	return s.typeCommand(in, user, path, args, option)
}

// typeCommand uses a command, or requests completion of the option called typing.
func (s *Server) typeCommand(in Channel, user User, path string, args Args, typing string) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	words := strings.Fields(path)
	if len(words) == 0 {
		return Interaction{}, fmt.Errorf("use /%s: %w", path, ErrNoCommand)
	}
	it, command, err := s.beginCommand(in, user, ChatCommand, words[0])
	if err != nil {
		return Interaction{}, err
	}
	args, given := s.giveFiles(in, args)
	options, err := nestOptions(command.Options, words[1:], args, typing)
	if err != nil {
		return Interaction{}, fmt.Errorf("use /%s: %w", path, err)
	}
	data := map[string]any{"id": command.ID, "name": command.Name, "type": ChatCommand}
	if len(given) > 0 {
		data["resolved"] = map[string]any{"attachments": given}
	}
	if len(options) > 0 {
		data["options"] = options
	}
	if typing != "" {
		it.Type = CompleteInteraction
	}
	return s.hub.Interact(it, data), nil
}

// givenFile is the id of a file given as an argument.
type givenFile string

// giveFiles stores the files among args, and returns args with their ids instead.
func (s *Server) giveFiles(in Channel, args Args) (Args, map[string]Attachment) {
	args, given := maps.Clone(args), map[string]Attachment{}
	for name, v := range args {
		if f, ok := v.(File); ok {
			a := s.hub.NewAttachment(in.ID, UploadedFile{Name: f.Name, ContentType: f.ContentType, Data: f.Data})
			given[a.ID], args[name] = a, givenFile(a.ID)
		}
	}
	maps.Copy(s.hub.Given, given)
	return args, given
}

// beginCommand creates the interaction of a command that the person may use in the channel.
func (s *Server) beginCommand(in Channel, user User, kind int, name string) (*InteractionExchange, *Command, error) {
	ch := s.hub.Channels[in.ID]
	if ch == nil {
		return nil, nil, fmt.Errorf("use %s: %w", name, ErrNoCommand)
	}
	has := s.hub.Permissions(ch, user.ID)
	if has&UseCommands == 0 {
		return nil, nil, fmt.Errorf("use %s as %s: %w", name, user.Username, ErrMissingPerms)
	}
	app, command := s.findCommand(ch, user, kind, name)
	if app == nil {
		return nil, nil, fmt.Errorf("use %s: %w", name, ErrNoCommand)
	}
	if command.MemberNeeds != nil && ch.GuildID != "" {
		need, err := strconv.ParseUint(*command.MemberNeeds, 10, 64)
		if err != nil || has&Administrator == 0 && (need == 0 || has&Permissions(need) != Permissions(need)) {
			return nil, nil, fmt.Errorf("use %s as %s: %w", name, user.Username, ErrMissingPerms)
		}
	}
	return &InteractionExchange{Interaction: Interaction{Type: CommandInteraction, User: user}, App: app, Channel: ch},
		command, nil
}

// findCommand finds a command of the bots in the channel and of those that the person has installed.
func (s *Server) findCommand(ch *Channel, user User, kind int, name string) (*Account, *Command) {
	for _, a := range s.hub.Accounts {
		here := s.hub.Permissions(ch, a.User.ID) != 0 || ch.BotID == a.User.ID
		for i, c := range a.Commands {
			if c.Name != name || c.Type != kind || !c.UsableIn(ch) {
				continue
			}
			along := a.Installed[user.ID] && slices.Contains(c.IntegrationTypes, 1)
			if along || here && (c.IntegrationTypes == nil || slices.Contains(c.IntegrationTypes, 0)) {
				return a, &a.Commands[i]
			}
		}
	}
	return nil, nil
}

// Install lets a person use the bot's commands everywhere.
func (s *Server) Install(bot Bot, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	a := s.hub.Accounts[bot.ID]
	if a.Installed == nil {
		a.Installed = map[string]bool{}
	}
	a.Installed[user.ID] = true
}

// CreateGroup creates a group conversation without a bot.
func (s *Server) CreateGroup(people ...User) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := &Channel{ID: s.hub.NewID(), Type: GroupMessage, Recipients: people}
	s.hub.Channels[ch.ID] = ch
	return *ch
}

// UseOnMessage uses a command from the context menu of a message.
func (s *Server) UseOnMessage(on Message, user User, name string) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	r := s.hub.Messages[on.ID]
	if r == nil || r.Deleted {
		return Interaction{}, fmt.Errorf("use %s: %w", name, ErrNoCommand)
	}
	it, command, err := s.beginCommand(Channel{ID: r.ChannelID}, user, MessageCommand, name)
	if err != nil {
		return Interaction{}, err
	}
	return s.hub.Interact(it, map[string]any{
		"id": command.ID, "name": command.Name, "type": MessageCommand, "target_id": r.ID,
		"resolved": map[string]any{"messages": map[string]Message{r.ID: r.Message}},
	}), nil
}

// PressButton presses a button of a message that the person sees.
func (s *Server) PressButton(on Message, user User, customID string) (Interaction, error) {
	return s.useComponent(on, user, customID, ButtonComponent, nil)
}

// Choose selects options of a menu of a message that the person sees.
func (s *Server) Choose(on Message, user User, customID string, values ...string) (Interaction, error) {
	return s.useComponent(on, user, customID, SelectMenu, values)
}

func (s *Server) useComponent(on Message, user User, customID string, kind int, values []string) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	none := fmt.Errorf("use %q: %w", customID, ErrNoComponent)
	r := s.hub.Messages[on.ID]
	if r == nil || r.Deleted || r.ViewerID != "" && r.ViewerID != user.ID {
		return Interaction{}, none
	}
	ch := s.hub.Channels[r.ChannelID]
	c, ok := findComponent(r.Components, customID)
	app := s.hub.Accounts[r.Author.ID]
	if kind == SelectMenu && (c.Type == RoleSelect || c.Type == ChannelSelect) {
		kind = c.Type
	}
	if !ok || c.Type != kind || c.Disabled || app == nil || ch == nil || s.hub.Permissions(ch, user.ID)&ViewChannel == 0 {
		return Interaction{}, none
	}
	data := map[string]any{"custom_id": c.CustomID, "component_type": c.Type, "id": c.ID}
	if kind == SelectMenu {
		for _, v := range values {
			if !slices.ContainsFunc(c.Options, func(o SelectOption) bool { return o.Value == v }) {
				return Interaction{}, none
			}
		}
	}
	if kind != ButtonComponent {
		data["values"] = values
	}
	it := &InteractionExchange{
		Interaction: Interaction{Type: ComponentInteraction, User: user}, App: app, Channel: ch,
		Target: r.ID,
	}
	return s.hub.Interact(it, data), nil
}

// SubmitModal fills in and submits the modal that answers an interaction.
func (s *Server) SubmitModal(of Interaction, values map[string]string) (Interaction, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	old := s.hub.Interactions[of.ID]
	if old == nil || old.Modal == nil {
		return Interaction{}, fmt.Errorf("send a form: %w", ErrNoComponent)
	}
	var rows []map[string]any
	for c := range allComponents(old.Modal.Components) {
		if c.Type != TextInput {
			continue
		}
		value, given := values[c.CustomID]
		if !given {
			value = c.Value
		}
		n := len([]rune(value))
		if n < c.MinLength || c.MaxLength > 0 && n > c.MaxLength || n == 0 && (c.Required == nil || *c.Required) {
			return Interaction{}, fmt.Errorf("%w: %q has %d characters", ErrBadArgument, c.CustomID, n)
		}
		field := map[string]any{"type": TextInput, "custom_id": c.CustomID, "value": value}
		rows = append(rows, map[string]any{"type": ActionRow, "components": []any{field}})
	}
	data := map[string]any{"custom_id": old.Modal.CustomID, "components": rows}
	it := &InteractionExchange{
		Interaction: Interaction{Type: ModalInteraction, User: old.User}, App: old.App, Channel: old.Channel,
		Target: old.Target,
	}
	return s.hub.Interact(it, data), nil
}

// React adds a reaction to a message.
func (s *Server) React(on Message, user User, emoji string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[on.ChannelID]
	event := map[string]any{
		"user_id": user.ID, "channel_id": ch.ID, "message_id": on.ID, "message_author_id": on.Author.ID,
		"emoji": map[string]any{"id": nil, "name": emoji}, "burst": false, "type": 0,
	}
	if g := s.hub.Guilds[ch.GuildID]; g != nil {
		event["guild_id"], event["member"] = g.ID, g.Member(user.ID)
	}
	s.hub.DispatchIn(ch, "MESSAGE_REACTION_ADD", event)
	s.hub.Notify()
}

// EditMessage edits a message of a person.
func (s *Server) EditMessage(m Message, text string) error {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	r := s.hub.Messages[m.ID]
	if r == nil || r.Deleted {
		return ErrUnknownMessage
	}
	if err := s.hub.Fill(r, MessageBody{Content: &text}, nil); err != nil {
		return err
	}
	s.hub.RecordEdit(r)
	return nil
}

// nestOptions converts arguments to Discord's form, nested in the subcommands.
func nestOptions(options []CommandOption, words []string, args Args, typing string) ([]map[string]any, error) {
	if len(words) == 0 {
		return listOptions(options, args, typing)
	}
	i := slices.IndexFunc(options, func(o CommandOption) bool { return o.Name == words[0] && o.Type == SubCommand })
	if i < 0 {
		return nil, ErrNoCommand
	}
	inner, err := nestOptions(options[i].Options, words[1:], args, typing)
	if err != nil {
		return nil, err
	}
	sub := map[string]any{"name": words[0], "type": SubCommand}
	if len(inner) > 0 {
		sub["options"] = inner
	}
	return []map[string]any{sub}, nil
}

// listOptions converts arguments to a list. During autocompletion nothing is checked.
func listOptions(options []CommandOption, args Args, typing string) ([]map[string]any, error) {
	var out []map[string]any
	found := typing == ""
	for _, o := range options {
		if o.Type < StringOption {
			return nil, fmt.Errorf("%w: it needs a subcommand such as %q", ErrNoCommand, o.Name)
		}
		v, given := args[o.Name]
		if typing == o.Name {
			if !o.Autocomplete {
				return nil, fmt.Errorf("%w: %q is not completed", ErrBadArgument, o.Name)
			}
			found = true
			out = append(out, map[string]any{"name": o.Name, "type": o.Type, "value": fmt.Sprint(v), "focused": true})
			continue
		}
		if !given && o.Required && typing == "" {
			return nil, fmt.Errorf("%w: %q is required", ErrBadArgument, o.Name)
		}
		if !given {
			continue
		}
		if err := checkArgument(o, v); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrBadArgument, o.Name, err)
		}
		if u, ok := v.(User); ok {
			v = u.ID
		}
		out = append(out, map[string]any{"name": o.Name, "type": o.Type, "value": v})
	}
	if len(out) < len(args) || !found {
		return nil, fmt.Errorf("%w: the command has fewer options than arguments were given", ErrBadArgument)
	}
	return out, nil
}
