package discordtest

import (
	"regexp"
	"strconv"
	"strings"
)

// commandName is what names of chat commands and options look like; they have no
// capital letters besides.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// maxCommandText is how many characters names, descriptions and values of one
// command may have together.
const maxCommandText = 8000

// checkCommand holds a command against the limits and fills in its type.
func checkCommand(f *FormErrors, path string, c *Command) {
	if c.Type == 0 {
		c.Type = 1
	}
	checkName(f, path+".name", c.Name)
	f.Length(path+".description", c.Description, 1, 100)
	checkOptions(f, path+".options", c.Options, 0)
	if commandText(CommandOption{Name: c.Name, Description: c.Description, Options: c.Options}) > maxCommandText {
		f.Add(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
}

func checkName(f *FormErrors, path, name string) {
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		f.Add(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

// checkOptions looks at the options at one depth: 0 of the command, 1 of a subcommand.
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
		switch {
		case o.Type == SubCommand && depth == 0:
			nested++
			checkOptions(f, here+".options", o.Options, depth+1)
		case o.Type < StringOption || o.Type > NumberOption:
			f.Add(here+".type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types cannot be used here")
		default:
			if o.Required && optional {
				f.Add(here, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
			}
			optional = optional || !o.Required
			checkChoices(f, here, o)
		}
	}
	if nested > 0 && nested < len(list) {
		f.Add(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types")
	}
}

func checkChoices(f *FormErrors, path string, o CommandOption) {
	f.Count(path+".choices", len(o.Choices), 0, 25)
	if o.Autocomplete && len(o.Choices) > 0 {
		f.Add(path, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE", "Choices and autocomplete are mutually exclusive")
	}
	for i, c := range o.Choices {
		here := ErrorPath(path+".choices", i)
		f.Length(here+".name", c.Name, 1, 100)
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
	n := len([]rune(o.Name)) + len([]rune(o.Description))
	for _, c := range o.Choices {
		n += len([]rune(c.Name))
		if v, ok := c.Value.(string); ok {
			n += len([]rune(v))
		}
	}
	for _, inner := range o.Options {
		n += commandText(inner)
	}
	return n
}
