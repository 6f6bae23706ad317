package discordtest

import (
	"encoding/json"
	"slices"
)

// Option types of slash commands, with Discord's numbers.
const (
	ShapeSubCommand      = 1
	ShapeSubCommandGroup = 2
	ShapeStringOption    = 3
	ShapeIntegerOption   = 4
	ShapeBooleanOption   = 5
	ShapeUserOption      = 6
	ShapeChannelOption   = 7
	ShapeRoleOption      = 8
	ShapeMentionable     = 9
	ShapeNumberOption    = 10
	ShapeFileOption      = 11
)

// A Command that an application has registered.
type ShapeCommand struct {
	ID                string               `json:"id"`
	ApplicationID     string               `json:"application_id"`
	GuildID           string               `json:"guild_id,omitempty"`
	Version           string               `json:"version"`
	Type              int                  `json:"type"`
	Name              string               `json:"name"`
	Description       string               `json:"description"`
	Options           []ShapeCommandOption `json:"options,omitempty"`
	MemberPermissions *ShapePermissions    `json:"default_member_permissions"`
	DMPermission      *bool                `json:"dm_permission,omitempty"`
	Contexts          []int                `json:"contexts,omitempty"`
	IntegrationTypes  []int                `json:"integration_types,omitempty"`
	NSFW              bool                 `json:"nsfw"`
	Localized         *json.RawMessage     `json:"name_localizations,omitempty"`
}

// A ShapeCommandOption is a parameter, a subcommand or a group of those.
type ShapeCommandOption struct {
	Type         int                  `json:"type"`
	Name         string               `json:"name"`
	Description  string               `json:"description"`
	Required     bool                 `json:"required,omitempty"`
	Choices      []ShapeOptionChoice  `json:"choices,omitempty"`
	Options      []ShapeCommandOption `json:"options,omitempty"`
	ChannelTypes []int                `json:"channel_types,omitempty"`
	MinValue     *float64             `json:"min_value,omitempty"`
	MaxValue     *float64             `json:"max_value,omitempty"`
	MinLength    *int                 `json:"min_length,omitempty"`
	MaxLength    *int                 `json:"max_length,omitempty"`
	Autocomplete bool                 `json:"autocomplete,omitempty"`
}

// An ShapeOptionChoice is a value that a person may pick.
type ShapeOptionChoice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// UsableIn tells whether the command is offered in such a channel.
func (c ShapeCommand) UsableIn(ch *ShapeChannel) bool {
	direct := ch.GuildID == ""
	if c.Contexts != nil {
		if direct {
			return slices.Contains(c.Contexts, 1)
		}
		return slices.Contains(c.Contexts, 0)
	}
	return !direct || c.DMPermission == nil || *c.DMPermission
}
