package discordtest

import "slices"

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
	NSFW          bool            `json:"nsfw"`
}

// A CommandOption is a parameter, a subcommand or a group of those.
type CommandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Required     bool            `json:"required,omitempty"`
	Choices      []OptionChoice  `json:"choices,omitempty"`
	Options      []CommandOption `json:"options,omitempty"`
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
