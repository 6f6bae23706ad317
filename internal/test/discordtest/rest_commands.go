package discordtest

import (
	"slices"
	"strconv"
)

// Commands lists what a bot has registered.
func (s *Server) Commands(bot Bot) []Command {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if a := s.hub.Accounts[bot.ID]; a != nil {
		return slices.Clone(a.Commands)
	}
	return nil
}

// checkApplication refuses requests about the application of another bot.
func (s *hub) checkApplication(c *RESTCall) error {
	switch app := c.PathValue("app"); {
	case s.Accounts[app] == nil:
		return ErrUnknownApp
	case app != c.Bot.User.ID:
		return ErrForbiddenAction
	}
	return nil
}

func (s *hub) listCommands(c *RESTCall) (any, error) {
	if err := s.checkApplication(c); err != nil {
		return nil, err
	}
	return append([]Command{}, c.Bot.Commands...), nil
}

// setCommands replaces all commands. Those that keep their name keep their id.
func (s *hub) setCommands(c *RESTCall) (any, error) {
	if err := s.checkApplication(c); err != nil {
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
		checkCommand(&f, strconv.Itoa(i), &list[i])
		if names[list[i].Name] {
			f.Add(ErrorPath("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		names[list[i].Name] = true
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	for i := range list {
		command := &list[i]
		command.ID, command.ApplicationID, command.Version = s.NewID(), c.Bot.User.ID, s.NewID()
		for _, old := range c.Bot.Commands {
			if old.Name == command.Name {
				command.ID = old.ID
			}
		}
	}
	c.Bot.Commands = list
	return append([]Command{}, list...), nil
}
