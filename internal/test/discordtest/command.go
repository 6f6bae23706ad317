package discordtest

import (
	"slices"
	"strconv"
	"strings"
)

// checkCommand checks a command against the limits and sets its type.
func checkCommand(f *FormErrors, path string, c *Command) {
	if c.Type == 0 {
		c.Type = 1
	}
	switch c.Type {
	case ChatCommand:
	case EntryPoint:
		checkName(f, path+".name", c.Name)
		f.Length(path+".description", c.Description, 0, 0)
		f.Count(path+".options", len(c.Options), 0, 0)
		return
	default:
		checkMenuCommand(f, path, c)
		return
	}
	checkName(f, path+".name", c.Name)
	f.Length(path+".description", c.Description, 1, 100)
	c.check(f, path)
	checkOptions(f, path+".options", c.Options, 0)
	whole := CommandOption{Name: c.Name, Description: c.Description, Localizations: c.Localizations, Options: c.Options}
	if commandText(whole) > maxCommandText {
		f.Add(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
}

// checkMenuCommand checks a context menu command.
func checkMenuCommand(f *FormErrors, path string, c *Command) {
	f.Length(path+".name", c.Name, 1, 32)
	for locale, name := range c.Names {
		checkLocale(f, path+".name_localizations."+locale, locale)
		f.Length(path+".name_localizations."+locale, name, 1, 32)
	}
	if c.Type != UserCommand && c.Type != MessageCommand {
		f.Add(path+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 2, 3, 4).")
	}
	if c.Description != "" {
		f.Add(path+".description", "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED", "Context menu commands cannot have "+
			"description")
	}
	if len(c.Options) > 0 {
		f.Add(path+".options", "APPLICATION_COMMAND_OPTIONS_NOT_ALLOWED", "Context menu commands cannot have options")
	}
}

func checkName(f *FormErrors, path, name string) {
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		f.Add(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

// Localizations are names and descriptions by locale.
type Localizations struct {
	Names        map[string]string `json:"name_localizations,omitempty"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
}

func (l Localizations) check(f *FormErrors, path string) {
	for locale, name := range l.Names {
		at := path + ".name_localizations." + locale
		checkLocale(f, at, locale)
		checkName(f, at, name)
	}
	for locale, text := range l.Descriptions {
		at := path + ".description_localizations." + locale
		checkLocale(f, at, locale)
		f.Length(at, text, 1, 100)
	}
}

func checkLocale(f *FormErrors, path, locale string) {
	if !slices.Contains(locales, locale) {
		f.Add(path, "BASE_TYPE_CHOICES", "Value must be one of the locales of Discord.")
	}
}

// longest returns the length of text or of its longest translation, in characters.
func longest(text string, by map[string]string) int {
	n := len([]rune(text))
	for _, other := range by {
		n = max(n, len([]rune(other)))
	}
	return n
}

// checkOptions checks the options at one depth: 0 for the command, 1 for a subcommand.
func checkOptions(f *FormErrors, path string, list []CommandOption, depth int) {
	f.Count(path, len(list), 0, 25)
	names, optional, nested := map[string]bool{}, false, 0
	for i, o := range list {
		here := ErrorPath(path, i)
		checkName(f, here+".name", o.Name)
		f.Length(here+".description", o.Description, 1, 100)
		if names[o.Name] {
			f.Add(here+".name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
		}
		names[o.Name] = true
		o.check(f, here)
		for locale, name := range o.Names {
			if key := locale + " " + name; names[key] {
				f.Add(here+".name_localizations."+locale, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
			} else {
				names[key] = true
			}
		}
		switch {
		case o.Type == SubCommand && depth == 0:
			nested++
			checkOptions(f, here+".options", o.Options, depth+1)
		case o.Type < StringOption || o.Type > AttachmentOption:
			f.Add(here+".type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types "+
				"cannot be used here")
		default:
			if o.Required && optional {
				f.Add(here, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before "+
					"non-required options")
			}
			optional = optional || !o.Required
			checkChoices(f, here, o)
		}
	}
	if nested > 0 && nested < len(list) {
		f.Add(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are "+
			"mutually exclusive to all other types")
	}
}

func checkChoices(f *FormErrors, path string, o CommandOption) {
	f.Count(path+".choices", len(o.Choices), 0, 25)
	if o.Autocomplete && (len(o.Choices) > 0 || o.Type == BooleanOption) {
		f.Add(path+".autocomplete", "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_INVALID", "Autocomplete cannot be used here")
	}
	for i, c := range o.Choices {
		here := ErrorPath(path+".choices", i)
		f.Length(here+".name", c.Name, 1, 100)
		for locale, name := range c.Names {
			checkLocale(f, here+".name_localizations."+locale, locale)
			f.Length(here+".name_localizations."+locale, name, 1, 100)
		}
		switch v := c.Value.(type) {
		case string:
			f.Length(here+".value", v, 1, 100)
			if o.Type != StringOption {
				f.Add(here+".value", "BASE_TYPE_CONVERT", "Value "+strconv.Quote(v)+" is not int.")
			}
		case float64:
			if o.Type != IntegerOption && o.Type != NumberOption {
				f.Add(here+".value", "BASE_TYPE_CONVERT", "Could not interpret value as string.")
			}
		default:
			f.required(here + ".value")
		}
	}
}

func commandText(o CommandOption) int {
	n := longest(o.Name, o.Names) + longest(o.Description, o.Descriptions)
	for _, c := range o.Choices {
		n += longest(c.Name, c.Names)
		if v, ok := c.Value.(string); ok {
			n += len([]rune(v))
		}
	}
	for _, inner := range o.Options {
		n += commandText(inner)
	}
	return n
}

// A Command is a registered command of an application.
type Command struct {
	ID            string          `json:"id"`
	ApplicationID string          `json:"application_id"`
	Version       string          `json:"version"`
	Type          int             `json:"type"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	Options       []CommandOption `json:"options,omitempty"`
	DMPermission  *bool           `json:"dm_permission,omitempty"`
	Contexts      []int           `json:"contexts,omitempty"`
	// IntegrationTypes say where it is offered: 0 in servers that have the bot, 1 to people who have installed it.
	IntegrationTypes []int   `json:"integration_types,omitempty"`
	MemberNeeds      *string `json:"default_member_permissions,omitempty"` // default permissions, as a number
	// of an entry point: 1 the application, 2 Discord
	Handler int `json:"handler,omitempty"`
	Localizations
}

// A CommandOption is a parameter, a subcommand or a group of those.
type CommandOption struct {
	Type        int             `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Required    bool            `json:"required,omitempty"`
	Choices     []OptionChoice  `json:"choices,omitempty"`
	Options     []CommandOption `json:"options,omitempty"`
	MinValue    *float64        `json:"min_value,omitempty"`
	MaxValue    *float64        `json:"max_value,omitempty"`
	MinLength   *int            `json:"min_length,omitempty"`
	MaxLength   *int            `json:"max_length,omitempty"`
	// Autocomplete makes Discord request choices from the bot while a person types.
	Autocomplete bool `json:"autocomplete,omitempty"`
	Localizations
}

// An OptionChoice is a predefined value of an option.
type OptionChoice struct {
	Name  string            `json:"name"`
	Names map[string]string `json:"name_localizations,omitempty"`
	Value any               `json:"value"`
}

// contextOf returns the interaction context of a channel for a bot.
func contextOf(ch *Channel, bot string) int {
	switch {
	case ch.GuildID != "":
		return InGuild
	case ch.BotID == bot:
		return InBotDM
	}
	return InPrivate
}

// UsableIn reports whether the command is available in a channel.
func (c Command) UsableIn(ch *Channel) bool {
	direct := ch.GuildID == ""
	if c.Contexts != nil {
		return slices.Contains(c.Contexts, contextOf(ch, c.ApplicationID))
	}
	return !direct || c.DMPermission == nil || *c.DMPermission
}
