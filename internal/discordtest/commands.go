package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Option types of slash commands, with Discord's numbers.
const (
	SubCommand      = 1
	SubCommandGroup = 2
	StringOption    = 3
	IntegerOption   = 4
	BooleanOption   = 5
	UserOption      = 6
	ChannelOption   = 7
	RoleOption      = 8
	Mentionable     = 9
	NumberOption    = 10
	FileOption      = 11
)

// A Command that an application has registered.
type Command struct {
	ID                string           `json:"id"`
	ApplicationID     string           `json:"application_id"`
	GuildID           string           `json:"guild_id,omitempty"`
	Version           string           `json:"version"`
	Type              int              `json:"type"`
	Name              string           `json:"name"`
	Description       string           `json:"description"`
	Options           []CommandOption  `json:"options,omitempty"`
	MemberPermissions *Permissions     `json:"default_member_permissions"`
	DMPermission      *bool            `json:"dm_permission,omitempty"`
	Contexts          []int            `json:"contexts,omitempty"`
	IntegrationTypes  []int            `json:"integration_types,omitempty"`
	NSFW              bool             `json:"nsfw"`
	Localized         *json.RawMessage `json:"name_localizations,omitempty"`
}

// A CommandOption is a parameter, a subcommand or a group of those.
type CommandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Required     bool            `json:"required,omitempty"`
	Choices      []OptionChoice  `json:"choices,omitempty"`
	Options      []CommandOption `json:"options,omitempty"`
	ChannelTypes []int           `json:"channel_types,omitempty"`
	MinValue     *float64        `json:"min_value,omitempty"`
	MaxValue     *float64        `json:"max_value,omitempty"`
	MinLength    *int            `json:"min_length,omitempty"`
	MaxLength    *int            `json:"max_length,omitempty"`
	Autocomplete bool            `json:"autocomplete,omitempty"`
}

// An OptionChoice is a value that a person may pick.
type OptionChoice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Commands lists what a bot has registered for everyone.
func (s *Server) Commands(bot Bot) []Command { return s.commandsIn(bot, "") }

// GuildCommands lists what a bot has registered in one guild.
func (s *Server) GuildCommands(bot Bot, g Guild) []Command { return s.commandsIn(bot, g.ID) }

func (s *Server) commandsIn(bot Bot, guild string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[bot.ID]; a != nil {
		return slices.Clone(a.commands[guild])
	}
	return nil
}

// commandScope checks that the request is about the bot's own application and,
// with a guild, that it is in there.
func (s *Server) commandScope(c *call) (string, error) {
	if s.accounts[c.PathValue("app")] == nil {
		return "", errUnknownApp
	}
	if c.PathValue("app") != c.bot.user.ID {
		return "", errForbiddenAction
	}
	if c.PathValue("guild") == "" {
		return "", nil
	}
	g, err := s.guildFor(c)
	if err != nil {
		return "", err
	}
	return g.ID, nil
}

func (s *Server) listCommands(c *call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	return append([]Command{}, c.bot.commands[scope]...), nil
}

// setCommands replaces all commands. Those that keep their name keep their id.
func (s *Server) setCommands(c *call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var list []Command
	if err := decode(c.body, &list); err != nil {
		return nil, err
	}
	var f formErrors
	f.count("", len(list), 0, 100)
	names := map[string]bool{}
	for i := range list {
		checkCommand(&f, at("", i)[1:], &list[i])
		if names[list[i].Name] {
			f.add(at("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[list[i].Name] = true
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	for i := range list {
		s.stamp(c.bot, scope, &list[i])
	}
	c.bot.commands[scope] = list
	return append([]Command{}, list...), nil
}

func (s *Server) stamp(bot *account, scope string, command *Command) {
	command.ID, command.ApplicationID, command.GuildID, command.Version = s.newID(), bot.user.ID, scope, s.newID()
	for _, old := range bot.commands[scope] {
		if old.Name == command.Name && old.Type == command.Type {
			command.ID = old.ID
		}
	}
}

// createCommand adds one command, or replaces the one of that name.
func (s *Server) createCommand(c *call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var one Command
	if err := decode(c.body, &one); err != nil {
		return nil, err
	}
	var f formErrors
	checkCommand(&f, "", &one)
	if err := f.err(); err != nil {
		return nil, err
	}
	s.stamp(c.bot, scope, &one)
	list := slices.Clone(c.bot.commands[scope])
	i := slices.IndexFunc(list, func(o Command) bool { return o.ID == one.ID })
	if i >= 0 {
		list[i] = one
		c.bot.commands[scope] = list
		return one, nil
	}
	if len(list) == 100 {
		return nil, refuse(http.StatusBadRequest, 30032, "Maximum number of application commands reached (100).")
	}
	c.bot.commands[scope] = append(list, one)
	return created{one}, nil
}

func (s *Server) deleteCommand(c *call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(c.bot.commands[scope])
	i := slices.IndexFunc(list, func(o Command) bool { return o.ID == c.PathValue("command") })
	if i < 0 {
		return nil, errUnknownCommand
	}
	c.bot.commands[scope] = slices.Delete(list, i, i+1)
	return nil, nil
}
