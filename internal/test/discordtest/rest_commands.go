package discordtest

import (
	"fmt"
	"slices"
	"strconv"
)

// Commands returns the registered commands of a bot.
func (s *Server) Commands(bot Bot) []Command {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if a := s.hub.Accounts[bot.ID]; a != nil {
		return slices.Clone(a.Commands)
	}
	return nil
}

// checkApplication rejects requests about another bot's application.
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
	list := append([]Command{}, c.Bot.Commands...)
	if c.Request.URL.Query().Get("with_localizations") != "true" {
		for i := range list {
			list[i].Localizations, list[i].Options = Localizations{}, withoutLocalizations(list[i].Options)
		}
	}
	return list, nil
}

func withoutLocalizations(options []CommandOption) []CommandOption {
	options = slices.Clone(options)
	for i := range options {
		o := &options[i]
		o.Localizations, o.Options, o.Choices = Localizations{}, withoutLocalizations(o.Options), slices.Clone(o.Choices)
		for n := range o.Choices {
			o.Choices[n].Names = nil
		}
	}
	return options
}

// setCommands replaces all commands. Commands that keep their name keep their id.
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
		if key := fmt.Sprint(list[i].Type, list[i].Name); names[key] {
			f.Add(ErrorPath("", i, "name")[1:], "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must "+
				"be unique")
		}
		names[fmt.Sprint(list[i].Type, list[i].Name)] = true
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := checkEntryPoint(c.Bot.Commands, list); err != nil {
		return nil, err
	}
	for i := range list {
		command := &list[i]
		command.ID, command.ApplicationID, command.Version = s.NewID(), c.Bot.User.ID, s.NewID()
		for _, old := range c.Bot.Commands {
			if old.Name == command.Name && old.Type == command.Type {
				command.ID = old.ID
			}
		}
	}
	c.Bot.Commands = list
	return append([]Command{}, list...), nil
}
