package discordtest

// Component types, with Discord's numbers.
const (
	ActionRow       = 1
	ButtonComponent = 2
)

// Button styles.
const (
	PrimaryButton = 1
	LinkButton    = 5
)

// A Component is a row or a button of a message. Only the fields of its type are set.
type Component struct {
	Type       int         `json:"type"`
	ID         int         `json:"id,omitempty"`
	CustomID   string      `json:"custom_id,omitempty"`
	Label      string      `json:"label,omitempty"`
	Style      int         `json:"style,omitempty"`
	URL        string      `json:"url,omitempty"`
	Disabled   bool        `json:"disabled,omitempty"`
	Emoji      *Emoji      `json:"emoji,omitempty"`
	Components []Component `json:"components,omitempty"`
}

// findButton looks for the button with that custom id.
func findButton(rows []Component, customID string) (Component, bool) {
	for _, row := range rows {
		for _, c := range row.Components {
			if c.CustomID == customID && customID != "" {
				return c, true
			}
		}
	}
	return Component{}, false
}
