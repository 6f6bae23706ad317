package discordtest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Component types, with Discord's numbers.
const (
	ActionRow       = 1
	ButtonComponent = 2
	SelectMenu      = 3
	TextInput       = 4
	RoleSelect      = 6
	ChannelSelect   = 8
	Section         = 9
	TextDisplay     = 10
	Thumbnail       = 11
	MediaGallery    = 12
	FileComponent   = 13
	Separator       = 14
	Container       = 17
	LabelComponent  = 18
)

// Button styles.
const (
	PrimaryButton = 1
	DangerButton  = 4
	LinkButton    = 5 // opens its URL; the bot is not notified
)

// A Component is a part of a message or a modal. Only the fields of its type are set.
type Component struct {
	Type        int            `json:"type"`
	ID          int            `json:"id,omitempty"`
	CustomID    string         `json:"custom_id,omitempty"`
	URL         string         `json:"url,omitempty"`
	Label       string         `json:"label,omitempty"`
	Style       int            `json:"style,omitempty"`
	Disabled    bool           `json:"disabled,omitempty"`
	Emoji       any            `json:"emoji,omitempty"`
	Components  []Component    `json:"components,omitempty"`
	Component   *Component     `json:"component,omitempty"` // of a label
	Accessory   *Component     `json:"accessory,omitempty"` // of a section
	Content     string         `json:"content,omitempty"`   // of a text
	Placeholder string         `json:"placeholder,omitempty"`
	Options     []SelectOption `json:"options,omitempty"`
	MinValues   *int           `json:"min_values,omitempty"`
	MaxValues   int            `json:"max_values,omitempty"`
	Defaults    []DefaultValue `json:"default_values,omitempty"`
	Value       string         `json:"value,omitempty"`
	Required    *bool          `json:"required,omitempty"`
	MinLength   int            `json:"min_length,omitempty"`
	MaxLength   int            `json:"max_length,omitempty"`
}

// A DefaultValue is a preselected value of a channel or role menu.
type DefaultValue struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// A SelectOption is one of the choices of a select menu.
type SelectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

// A Modal is a form that a bot shows to a person.
type Modal struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []Component `json:"components"`
}

// Limits of components, as documented.
const (
	maxLayoutParts  = 40
	maxLayoutText   = 4000
	maxSelect       = 25
	maxPlaceholder  = 150
	maxModalParts   = 5
	maxModalTitle   = 45
	maxModalText    = 4000
	maxModalHint    = 100
	maxOptionLength = 100
)

// allComponents yields components and nested components in order.
func allComponents(list []Component) iter.Seq[Component] {
	return func(yield func(Component) bool) {
		for _, c := range list {
			inner := slices.Clone(c.Components)
			for _, one := range []*Component{c.Component, c.Accessory} {
				if one != nil {
					inner = append(inner, *one)
				}
			}
			if !yield(c) {
				return
			}
			for x := range allComponents(inner) {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// findComponent looks for the component with that custom id.
func findComponent(list []Component, customID string) (Component, bool) {
	for c := range allComponents(list) {
		if c.CustomID == customID && customID != "" {
			return c, true
		}
	}
	return Component{}, false
}

// checkComponents checks the components of a message: rows of buttons or of one menu.
func checkComponents(f *FormErrors, rows []Component) {
	f.Count("components", len(rows), 0, maxRows)
	seen := map[string]bool{}
	for i, row := range rows {
		path := ErrorPath("components", i)
		if row.Type != ActionRow {
			f.Add(path+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
			continue
		}
		checkRow(f, path, row, seen)
	}
}

func checkRow(f *FormErrors, path string, row Component, seen map[string]bool) {
	f.Count(path+".components", len(row.Components), 1, maxButtons)
	for j, c := range row.Components {
		inner := ErrorPath(path+".components", j)
		switch {
		case c.Type == ButtonComponent:
			checkButton(f, inner, c, seen)
		case c.Type == SelectMenu && len(row.Components) == 1:
			checkSelect(f, inner, c, seen)
		case (c.Type == RoleSelect || c.Type == ChannelSelect) && len(row.Components) == 1:
			checkCustomID(f, inner, c, seen)
			f.Length(inner+".placeholder", c.Placeholder, 0, maxPlaceholder)
			f.Count(inner+".default_values", len(c.Defaults), 0, c.MaxValues)
		case c.Type == SelectMenu:
			f.Add(path+".components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
		default:
			f.Add(inner+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (2, 3).")
		}
	}
}

func checkButton(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".label", c.Label, 0, 80)
	switch {
	case c.Style < PrimaryButton || c.Style > LinkButton:
		f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2, 3, 4, 5).")
	case c.Style == LinkButton:
		f.Length(path+".url", c.URL, 1, 512)
		if c.CustomID != "" {
			const code = "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"
			f.Add(path, code, "A custom id and url cannot both be specified")
		}
	default:
		checkCustomID(f, path, c, seen)
	}
	if c.Label == "" && c.Emoji == nil {
		f.Add(path, "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or emoji")
	}
}

func checkSelect(f *FormErrors, path string, c Component, seen map[string]bool) {
	checkCustomID(f, path, c, seen)
	f.Length(path+".placeholder", c.Placeholder, 0, maxPlaceholder)
	f.Count(path+".options", len(c.Options), 1, maxSelect)
	values := map[string]bool{}
	for i, o := range c.Options {
		here := ErrorPath(path+".options", i)
		f.Length(here+".label", o.Label, 1, maxOptionLength)
		f.Length(here+".value", o.Value, 1, maxOptionLength)
		f.Length(here+".description", o.Description, 0, maxOptionLength)
		if values[o.Value] {
			f.Add(here+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		values[o.Value] = true
	}
}

func checkCustomID(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".custom_id", c.CustomID, 1, maxCustomID)
	if c.CustomID != "" && seen[c.CustomID] {
		f.Add(path+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[c.CustomID] = true
}

// checkLayout checks the components of a message with the components v2 flag.
func checkLayout(f *FormErrors, list []Component) {
	n := 0
	var text strings.Builder
	for c := range allComponents(list) {
		n++
		text.WriteString(c.Content)
	}
	f.Count("components", n, 1, maxLayoutParts)
	f.Length("components", text.String(), 0, maxLayoutText)
	checkLayoutParts(f, "components", list, map[string]bool{}, true)
}

func checkLayoutParts(f *FormErrors, path string, list []Component, seen map[string]bool, top bool) {
	for i, c := range list {
		here := ErrorPath(path, i)
		switch c.Type {
		case ActionRow:
			checkRow(f, here, c, seen)
		case TextDisplay:
			f.Length(here+".content", c.Content, 1, maxLayoutText)
		case Section:
			f.Count(here+".components", len(c.Components), 1, 3)
			if c.Accessory == nil {
				f.required(here + ".accessory")
			} else if c.Accessory.Type == ButtonComponent {
				checkButton(f, here+".accessory", *c.Accessory, seen)
			}
		case Separator, MediaGallery, FileComponent:
		case Container:
			if !top {
				f.Add(here+".type", "BASE_TYPE_CHOICES", "A container cannot be in another component")
			}
			f.Count(here+".components", len(c.Components), 1, maxLayoutParts)
			checkLayoutParts(f, here+".components", c.Components, seen, false)
		default:
			f.Add(here+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 9, 10, 12, 13, 14, 17).")
		}
	}
}

// check checks a modal against the limits.
func (m Modal) check() error {
	var f FormErrors
	f.Length("custom_id", m.CustomID, 1, maxCustomID)
	f.Length("title", m.Title, 1, maxModalTitle)
	f.Count("components", len(m.Components), 1, maxModalParts)
	seen := map[string]bool{}
	for i, c := range m.Components {
		path := ErrorPath("components", i)
		inner := c.Components
		if c.Component != nil {
			inner = []Component{*c.Component}
		}
		if c.Type != ActionRow && c.Type != LabelComponent || len(inner) != 1 || inner[0].Type != TextInput {
			f.Add(path+".type", "BASE_TYPE_CHOICES", "A row or label with one text input is expected here.")
			continue
		}
		input := inner[0]
		if c.Type == LabelComponent {
			input.Label = c.Label
		}
		checkTextInput(&f, path+".components.0", input, seen)
	}
	return f.Err()
}

func checkTextInput(f *FormErrors, path string, c Component, seen map[string]bool) {
	checkCustomID(f, path, c, seen)
	f.Length(path+".label", c.Label, 1, maxModalTitle)
	f.Length(path+".placeholder", c.Placeholder, 0, maxModalHint)
	f.Length(path+".value", c.Value, 0, maxModalText)
	if c.Style != 1 && c.Style != 2 {
		f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2).")
	}
	if c.MinLength < 0 || c.MinLength > maxModalText || c.MaxLength < 0 || c.MaxLength > maxModalText {
		f.Add(path+".max_length", "NUMBER_TYPE_MAX", fmt.Sprintf("int value should be less than or equal to %d.",
			maxModalText))
	}
}
