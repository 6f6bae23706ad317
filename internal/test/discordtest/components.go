package discordtest

// Component types, with Discord's numbers.
const (
	ShapeActionRow        = 1
	ShapeButtonComponent  = 2
	ShapeStringSelect     = 3
	ShapeTextInput        = 4
	ShapeUserSelect       = 5
	ShapeChannelSelect    = 8
	ShapeSectionComponent = 9
	ShapeContainerV2      = 17
)

// Button styles.
const (
	ShapePrimaryButton = 1
	ShapeLinkButton    = 5
	ShapePremiumButton = 6
)

// A Component is a row, a button, a menu, an input, or another part of a
// message or modal. Only the fields of its type are set.
type ShapeComponent struct {
	Type        int                 `json:"type"`
	ID          int                 `json:"id,omitempty"`
	CustomID    string              `json:"custom_id,omitempty"`
	Label       string              `json:"label,omitempty"`
	Style       int                 `json:"style,omitempty"`
	URL         string              `json:"url,omitempty"`
	SKU         string              `json:"sku_id,omitempty"`
	Disabled    bool                `json:"disabled,omitempty"`
	Emoji       *ShapeEmoji         `json:"emoji,omitempty"`
	Placeholder string              `json:"placeholder,omitempty"`
	Options     []ShapeSelectOption `json:"options,omitempty"`
	MinValues   *int                `json:"min_values,omitempty"`
	MaxValues   *int                `json:"max_values,omitempty"`
	MinLength   *int                `json:"min_length,omitempty"`
	MaxLength   *int                `json:"max_length,omitempty"`
	Required    *bool               `json:"required,omitempty"`
	Value       string              `json:"value,omitempty"`
	Content     string              `json:"content,omitempty"`
	Components  []ShapeComponent    `json:"components,omitempty"`
	Accessory   *ShapeComponent     `json:"accessory,omitempty"`
	Items       rawJSON             `json:"items,omitempty"`
	Media       rawJSON             `json:"media,omitempty"`
	File        rawJSON             `json:"file,omitempty"`
	AccentColor *int                `json:"accent_color,omitempty"`
	Spoiler     bool                `json:"spoiler,omitempty"`
	Divider     *bool               `json:"divider,omitempty"`
	Spacing     int                 `json:"spacing,omitempty"`
}

// A ShapeSelectOption is one choice of a menu.
type ShapeSelectOption struct {
	Label       string      `json:"label"`
	Value       string      `json:"value"`
	Description string      `json:"description,omitempty"`
	Emoji       *ShapeEmoji `json:"emoji,omitempty"`
	Default     bool        `json:"default,omitempty"`
}

// all lists the component and everything inside it.
func (c ShapeComponent) all() []ShapeComponent {
	list := []ShapeComponent{c}
	for _, inner := range c.Components {
		list = append(list, inner.all()...)
	}
	if c.Accessory != nil {
		list = append(list, c.Accessory.all()...)
	}
	return list
}

// FindComponent looks for the interactive component with that custom id.
func FindComponent(rows []ShapeComponent, customID string) (ShapeComponent, bool) {
	for _, row := range rows {
		for _, c := range row.all() {
			if c.CustomID == customID && customID != "" {
				return c, true
			}
		}
	}
	return ShapeComponent{}, false
}
