package discordtest

import "fmt"

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
	case c.Style < PrimaryButton || c.Style > LinkButton:
		f.Add(path+".style", "BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2, 3, 4, 5).")
	case c.Style == LinkButton:
		f.Length(path+".url", c.URL, 1, 512)
		if c.CustomID != "" {
			f.Add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
		}
		if c.URL != "" && !webAddress(c.URL) && schemeOf(c.URL) != "discord" {
			f.Add(path+".url", "URL_TYPE_INVALID_SCHEME", fmt.Sprintf("Scheme %q is not supported. Scheme must be one of ('http', 'https', 'discord').", schemeOf(c.URL)))
		}
	default:
		if c.URL != "" {
			f.Add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
		}
		checkCustomID(f, path, c, seen)
	}
	if c.Label == "" && c.Emoji == nil {
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
