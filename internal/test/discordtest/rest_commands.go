package discordtest

import (
	"net/http"
	"slices"
)

// CommandsIn lists what a bot has registered in a guild, or for everyone if that is empty. It takes the lock.
func (s *RESTServer) CommandsIn(bot Bot, guild string) []Command {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if a := s.Accounts[bot.ID]; a != nil {
		return slices.Clone(a.Commands[guild])
	}
	return nil
}

// commandScope checks that the request is about the bot's own application and,
// with a guild, that it is in there.
func (s *RESTServer) commandScope(c *RESTCall) (string, error) {
	if s.Accounts[c.PathValue("app")] == nil {
		return "", ErrUnknownApp
	}
	if c.PathValue("app") != c.Bot.User.ID {
		return "", ErrForbiddenAction
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

func (s *RESTServer) listCommands(c *RESTCall) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	return append([]Command{}, c.Bot.Commands[scope]...), nil
}

// setCommands replaces all commands. Those that keep their name keep their id.
func (s *RESTServer) setCommands(c *RESTCall) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var list []Command
	if err := DecodeBody(c.Body, &list); err != nil {
		return nil, err
	}
	var f FormErrors
	f.Count("", len(list), 0, 100)
	names := map[string]bool{}
	for i := range list {
		CheckCommand(&f, ErrorPath("", i)[1:], &list[i])
		if names[list[i].Name] {
			f.Add(ErrorPath("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[list[i].Name] = true
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	for i := range list {
		s.setCommandIDs(c.Bot, scope, &list[i])
	}
	c.Bot.Commands[scope] = list
	return append([]Command{}, list...), nil
}

func (s *RESTServer) setCommandIDs(bot *Account, scope string, command *Command) {
	command.ID, command.ApplicationID, command.GuildID, command.Version = s.NewID(), bot.User.ID, scope, s.NewID()
	for _, old := range bot.Commands[scope] {
		if old.Name == command.Name && old.Type == command.Type {
			command.ID = old.ID
		}
	}
}

// createCommand adds one command, or replaces the one of that name.
func (s *RESTServer) createCommand(c *RESTCall) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var one Command
	if err := DecodeBody(c.Body, &one); err != nil {
		return nil, err
	}
	var f FormErrors
	CheckCommand(&f, "", &one)
	if err := f.Err(); err != nil {
		return nil, err
	}
	s.setCommandIDs(c.Bot, scope, &one)
	list := slices.Clone(c.Bot.Commands[scope])
	i := slices.IndexFunc(list, func(o Command) bool { return o.ID == one.ID })
	if i >= 0 {
		list[i] = one
		c.Bot.Commands[scope] = list
		return one, nil
	}
	if len(list) == 100 {
		return nil, Refuse(http.StatusBadRequest, 30032, "Maximum number of application commands reached (100).")
	}
	c.Bot.Commands[scope] = append(list, one)
	return createdResult{one}, nil
}

func (s *RESTServer) deleteCommand(c *RESTCall) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(c.Bot.Commands[scope])
	i := slices.IndexFunc(list, func(o Command) bool { return o.ID == c.PathValue("command") })
	if i < 0 {
		return nil, ErrUnknownCommand
	}
	c.Bot.Commands[scope] = slices.Delete(list, i, i+1)
	return nil, nil
}
