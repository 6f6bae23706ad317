package settings

import (
	"fmt"
	"strings"
)

// Vision configures which model describes images to models without vision.
type Vision struct {
	Model    string // "provider:model"; "" means none
	Prompt   string // "" means the default prompt
	MaxBytes int    // of an image to be described
	Models   string // lines "provider:model yes" or "provider:model no", see [Vision.Sees]
}

const visionKeys = toolKeys + "vision."

// visionFields are the settings of images and vision.
var visionFields = []Field{
	model(visionKeys+"model", "Vision model", "Describes pictures to models that cannot see them. Leave empty for none.",
		"", &at.Vision.Model),
	longText(visionKeys+"prompt", "Vision prompt", "What the vision model is asked. Leave empty for the default.",
		&at.Vision.Prompt),
	number(visionKeys+"maxBytes", "Vision image limit (bytes)", "Larger images are not described.", 5<<20,
		10_000, 20<<20, &at.Vision.MaxBytes),
	longText(visionKeys+"models", "Models that see",
		`For models that clank does not know: whether they see pictures, one `+
			`per line, such as "compatible:my-model yes". * at the end of a name stands for all that begin so. Other models of `+
			`your own server are known by its list.`,
		&at.Vision.Models).checked(checkSighted),
}

// Sees reports what Models says about a model; its first matching line counts.
func (v Vision) Sees(model string) (sees, listed bool) {
	for line := range strings.Lines(v.Models) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		prefix, all := strings.CutSuffix(f[0], "*")
		if f[0] == model || all && strings.HasPrefix(model, prefix) {
			return f[1] == "yes", true
		}
	}
	return false, false
}

// checkSighted checks lines of a model and yes or no.
func checkSighted(v string) error {
	for line := range strings.Lines(v) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 || !strings.Contains(f[0], ":") || f[1] != "yes" && f[1] != "no" {
			return fmt.Errorf("must have provider:model and yes or no on each line, unlike %q", strings.TrimSpace(line))
		}
	}
	return nil
}
