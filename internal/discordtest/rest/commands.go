package rest

import (
	"net/http"
	"slices"

	"clank/internal/discordtest/shape"
)

// CommandsIn lists what a bot has registered in a guild, or for everyone if that is empty. It takes the lock.
func (s *Server) CommandsIn(bot shape.Bot, guild string) []shape.Command {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if a := s.Accounts[bot.ID]; a != nil {
		return slices.Clone(a.Commands[guild])
	}
	return nil
}

// commandScope checks that the request is about the bot's own application and,
// with a guild, that it is in there.
func (s *Server) commandScope(c *shape.Call) (string, error) {
	if s.Accounts[c.PathValue("app")] == nil {
		return "", shape.ErrUnknownApp
	}
	if c.PathValue("app") != c.Bot.User.ID {
		return "", shape.ErrForbiddenAction
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

func (s *Server) listCommands(c *shape.Call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	return append([]shape.Command{}, c.Bot.Commands[scope]...), nil
}

// setCommands replaces all commands. Those that keep their name keep their id.
func (s *Server) setCommands(c *shape.Call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var list []shape.Command
	if err := shape.Decode(c.Body, &list); err != nil {
		return nil, err
	}
	var f shape.FormErrors
	f.Count("", len(list), 0, 100)
	names := map[string]bool{}
	for i := range list {
		shape.CheckCommand(&f, shape.At("", i)[1:], &list[i])
		if names[list[i].Name] {
			f.Add(shape.At("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[list[i].Name] = true
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	for i := range list {
		s.stamp(c.Bot, scope, &list[i])
	}
	c.Bot.Commands[scope] = list
	return append([]shape.Command{}, list...), nil
}

func (s *Server) stamp(bot *shape.Account, scope string, command *shape.Command) {
	command.ID, command.ApplicationID, command.GuildID, command.Version = s.NewID(), bot.User.ID, scope, s.NewID()
	for _, old := range bot.Commands[scope] {
		if old.Name == command.Name && old.Type == command.Type {
			command.ID = old.ID
		}
	}
}

// createCommand adds one command, or replaces the one of that name.
func (s *Server) createCommand(c *shape.Call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	var one shape.Command
	if err := shape.Decode(c.Body, &one); err != nil {
		return nil, err
	}
	var f shape.FormErrors
	shape.CheckCommand(&f, "", &one)
	if err := f.Err(); err != nil {
		return nil, err
	}
	s.stamp(c.Bot, scope, &one)
	list := slices.Clone(c.Bot.Commands[scope])
	i := slices.IndexFunc(list, func(o shape.Command) bool { return o.ID == one.ID })
	if i >= 0 {
		list[i] = one
		c.Bot.Commands[scope] = list
		return one, nil
	}
	if len(list) == 100 {
		return nil, shape.Refuse(http.StatusBadRequest, 30032, "Maximum number of application commands reached (100).")
	}
	c.Bot.Commands[scope] = append(list, one)
	return created{one}, nil
}

func (s *Server) deleteCommand(c *shape.Call) (any, error) {
	scope, err := s.commandScope(c)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(c.Bot.Commands[scope])
	i := slices.IndexFunc(list, func(o shape.Command) bool { return o.ID == c.PathValue("command") })
	if i < 0 {
		return nil, shape.ErrUnknownCommand
	}
	c.Bot.Commands[scope] = slices.Delete(list, i, i+1)
	return nil, nil
}
