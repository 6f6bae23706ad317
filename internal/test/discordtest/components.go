package discordtest

// Component types, with Discord's numbers.
const (
	ActionRow        = 1
	ButtonComponent  = 2
	StringSelect     = 3
	TextInput        = 4
	UserSelect       = 5
	ChannelSelect    = 8
	SectionComponent = 9
	ContainerV2      = 17
)

// Button styles.
const (
	PrimaryButton = 1
	LinkButton    = 5
	PremiumButton = 6
)

// A Component is a row, a button, a menu, an input, or another part of a
// message or modal. Only the fields of its type are set.
type Component struct {
	Type        int            `json:"type"`
	ID          int            `json:"id,omitempty"`
	CustomID    string         `json:"custom_id,omitempty"`
	Label       string         `json:"label,omitempty"`
	Style       int            `json:"style,omitempty"`
	URL         string         `json:"url,omitempty"`
	SKU         string         `json:"sku_id,omitempty"`
	Disabled    bool           `json:"disabled,omitempty"`
	Emoji       *Emoji         `json:"emoji,omitempty"`
	Placeholder string         `json:"placeholder,omitempty"`
	Options     []SelectOption `json:"options,omitempty"`
	MinValues   *int           `json:"min_values,omitempty"`
	MaxValues   *int           `json:"max_values,omitempty"`
	MinLength   *int           `json:"min_length,omitempty"`
	MaxLength   *int           `json:"max_length,omitempty"`
	Required    *bool          `json:"required,omitempty"`
	Value       string         `json:"value,omitempty"`
	Content     string         `json:"content,omitempty"`
	Components  []Component    `json:"components,omitempty"`
	Accessory   *Component     `json:"accessory,omitempty"`
	Items       rawJSON        `json:"items,omitempty"`
	Media       rawJSON        `json:"media,omitempty"`
	File        rawJSON        `json:"file,omitempty"`
	AccentColor *int           `json:"accent_color,omitempty"`
	Spoiler     bool           `json:"spoiler,omitempty"`
	Divider     *bool          `json:"divider,omitempty"`
	Spacing     int            `json:"spacing,omitempty"`
}

// A SelectOption is one choice of a menu.
type SelectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Emoji       *Emoji `json:"emoji,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

// all lists the component and everything inside it.
func (c Component) all() []Component {
	list := []Component{c}
	for _, inner := range c.Components {
		list = append(list, inner.all()...)
	}
	if c.Accessory != nil {
		list = append(list, c.Accessory.all()...)
	}
	return list
}

// FindComponent looks for the interactive component with that custom id.
func FindComponent(rows []Component, customID string) (Component, bool) {
	for _, row := range rows {
		for _, c := range row.all() {
			if c.CustomID == customID && customID != "" {
				return c, true
			}
		}
	}
	return Component{}, false
}
