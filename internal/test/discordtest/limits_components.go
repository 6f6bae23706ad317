package discordtest

import (
	"fmt"
	"slices"
)

// checkComponents holds the components of a message against the limits.
func checkComponents(f *FormErrors, rows []Component, v2 bool) {
	if v2 {
		total := 0
		for _, c := range rows {
			total += len(c.all())
		}
		f.Count("components", total, 1, maxV2)
	} else {
		f.Count("components", len(rows), 0, maxRows)
	}
	seen := map[string]bool{}
	for i, row := range rows {
		path := ErrorPath("components", i)
		switch {
		case row.Type == ActionRow:
			checkRow(f, path, row, seen)
		case v2 && row.Type >= SectionComponent:
			checkV2(f, path, row, seen)
		default:
			f.Add(path+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		}
	}
}

// checkV2 looks only for rows and accessories; the layout itself passes.
func checkV2(f *FormErrors, path string, c Component, seen map[string]bool) {
	for i, inner := range c.Components {
		if inner.Type == ActionRow {
			checkRow(f, ErrorPath(path+".components", i), inner, seen)
		}
	}
	if c.Accessory != nil && c.Accessory.Type == ButtonComponent {
		checkButton(f, path+".accessory", *c.Accessory, seen)
	}
	f.Length(path+".content", c.Content, 0, 4000)
}

func checkRow(f *FormErrors, path string, row Component, seen map[string]bool) {
	f.Count(path+".components", len(row.Components), 1, maxButtons)
	width := 0
	for i, c := range row.Components {
		inner := ErrorPath(path+".components", i)
		switch c.Type {
		case ButtonComponent:
			width++
			checkButton(f, inner, c, seen)
		case StringSelect, UserSelect, 6, 7, ChannelSelect:
			width += maxButtons
			checkSelect(f, inner, c, seen)
		default:
			f.Add(inner+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (2, 3, 5, 6, 7, 8).")
		}
	}
	if width > maxButtons && len(row.Components) <= maxButtons {
		f.Add(path, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
	}
}

func checkButton(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".label", c.Label, 0, 80)
	switch {
	case c.Style < PrimaryButton || c.Style > PremiumButton:
		f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2, 3, 4, 5, 6).")
	case c.Style == LinkButton:
		f.Length(path+".url", c.URL, 1, 512)
		if c.CustomID != "" {
			f.Add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
		}
		if c.URL != "" && !webAddress(c.URL) && schemeOf(c.URL) != "discord" {
			f.Add(path+".url", "URL_TYPE_INVALID_SCHEME", fmt.Sprintf("Scheme %q is not supported. Scheme must be one of ('http', 'https', 'discord').", schemeOf(c.URL)))
		}
	case c.Style == PremiumButton:
		if c.SKU == "" {
			f.required(path + ".sku_id")
		}
	default:
		if c.URL != "" {
			f.Add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
		}
		checkCustomID(f, path, c, seen)
	}
	if c.Label == "" && c.Emoji == nil && c.Style != PremiumButton {
		f.Add(path, "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or emoji")
	}
}

func checkSelect(f *FormErrors, path string, c Component, seen map[string]bool) {
	checkCustomID(f, path, c, seen)
	f.Length(path+".placeholder", c.Placeholder, 0, 150)
	if c.Type != StringSelect {
		return
	}
	f.Count(path+".options", len(c.Options), 1, 25)
	var values []string
	for i, o := range c.Options {
		option := ErrorPath(path+".options", i)
		f.Length(option+".label", o.Label, 1, 100)
		f.Length(option+".value", o.Value, 1, 100)
		f.Length(option+".description", o.Description, 0, 100)
		if slices.Contains(values, o.Value) {
			f.Add(option+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		values = append(values, o.Value)
	}
}

func checkCustomID(f *FormErrors, path string, c Component, seen map[string]bool) {
	f.Length(path+".custom_id", c.CustomID, 1, maxCustomID)
	if c.CustomID != "" && seen[c.CustomID] {
		f.Add(path+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[c.CustomID] = true
}

// CheckModal holds a modal against the limits.
func CheckModal(f *FormErrors, data ResponseData) {
	f.Length("data.custom_id", data.CustomID, 1, maxCustomID)
	f.Length("data.title", data.Title, 1, 45)
	f.Count("data.components", len(data.Components), 1, maxRows)
	seen := map[string]bool{}
	for i, row := range data.Components {
		path := ErrorPath("data.components", i)
		if row.Type != ActionRow || len(row.Components) != 1 || row.Components[0].Type != TextInput {
			f.Add(path+".type", "BASE_TYPE_CHOICES", "A row of a modal holds one text input.")
			continue
		}
		input := row.Components[0]
		path = ErrorPath(path+".components", 0)
		checkCustomID(f, path, input, seen)
		f.Length(path+".label", input.Label, 1, 45)
		f.Length(path+".placeholder", input.Placeholder, 0, 100)
		f.Length(path+".value", input.Value, 0, 4000)
		if input.Style != 1 && input.Style != 2 {
			f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2).")
		}
	}
}
