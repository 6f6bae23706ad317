package discordtest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Documented limits of messages.
const (
	maxContent     = 2000
	maxAttachments = 10
	maxRows        = 5
	maxButtons     = 5
	maxCustomID    = 100
)

// CheckBody holds a message, as it would be, against the limits.
func (m *Message) CheckBody() error {
	var f FormErrors
	f.Length("content", m.Content, 0, maxContent)
	f.Count("attachments", len(m.Attachments), 0, maxAttachments)
	checkComponents(&f, m.Components)
	return f.Err()
}

// Empty tells whether there is nothing in the message that could be shown.
func (m *Message) Empty() bool {
	return strings.TrimSpace(m.Content) == "" && len(m.Attachments)+len(m.Components) == 0
}

// checkComponents holds the components of a message against the limits: rows of buttons.
func checkComponents(f *FormErrors, rows []Component) {
	f.Count("components", len(rows), 0, maxRows)
	seen := map[string]bool{}
	for i, row := range rows {
		path := ErrorPath("components", i)
		if row.Type != ActionRow {
			f.Add(path+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
			continue
		}
		f.Count(path+".components", len(row.Components), 1, maxButtons)
		for j, c := range row.Components {
			inner := ErrorPath(path+".components", j)
			if c.Type != ButtonComponent {
				f.Add(inner+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (2,).")
				continue
			}
			checkButton(f, inner, c, seen)
		}
	}
}

func checkButton(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".label", c.Label, 0, 80)
	switch {
	case c.Style < PrimaryButton || c.Style > DangerButton: // others are no buttons that are pressed
		f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2, 3, 4).")
	default:
		checkCustomID(f, path, c, seen)
	}
	if c.Label == "" {
		f.Add(path, "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or emoji")
	}
}

func checkCustomID(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".custom_id", c.CustomID, 1, maxCustomID)
	if c.CustomID != "" && seen[c.CustomID] {
		f.Add(path+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[c.CustomID] = true
}

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

// Option types of slash commands, with Discord's numbers.
const (
	SubCommand    = 1
	StringOption  = 3
	IntegerOption = 4
	BooleanOption = 5
	NumberOption  = 10
)

// A Command that an application has registered.
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
}

// An OptionChoice is a value that a person may pick.
type OptionChoice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// UsableIn tells whether the command is offered in such a channel.
func (c Command) UsableIn(ch *Channel) bool {
	direct := ch.GuildID == ""
	if c.Contexts != nil {
		if direct {
			return slices.Contains(c.Contexts, 1)
		}
		return slices.Contains(c.Contexts, 0)
	}
	return !direct || c.DMPermission == nil || *c.DMPermission
}
